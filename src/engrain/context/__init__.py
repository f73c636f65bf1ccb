"""Context blocks and chat messages: memories selected, formatted and packed within a token budget."""
