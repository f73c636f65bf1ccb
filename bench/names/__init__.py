"""Which names are found: by spelling, by spaCy, by both."""
