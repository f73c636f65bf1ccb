"""What an agent reads before it answers: the right memories, in order, within a budget of tokens."""
