"""What is made of memories: facts and rules out of conversations, summaries, and reflections."""
