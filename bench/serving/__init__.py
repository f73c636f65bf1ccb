"""What it costs to reach a memory over HTTP, and what clients see while its servers fall over."""
