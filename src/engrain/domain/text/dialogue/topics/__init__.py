"""Topics of the user or their code that are looked up by a few words, a module for each language."""
