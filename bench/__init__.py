"""What engrain is judged by: whether a search finds the evidence, and what that costs."""
