"""Speed benchmark: each figure beside the raw limit of the machine it was measured on."""
