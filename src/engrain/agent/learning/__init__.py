"""Learning from memories: consolidation, reflections and summaries, with the parts of one Memory."""
