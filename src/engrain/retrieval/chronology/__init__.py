"""Questions that are answered by time: of the newest, of what was said, and of what is to come."""
