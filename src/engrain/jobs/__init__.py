"""What is done by itself: when a schedule fires, and who does what is due."""
