"""Routing: the destination of an input among the kinds of memory, by its role and its words alone."""
