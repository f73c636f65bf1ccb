"""How much of what matters a summary in the memories' own words keeps, beside simpler ways to choose sentences."""
