"""Learning: facts and rules from conversations (consolidation), reflections, and summaries."""
