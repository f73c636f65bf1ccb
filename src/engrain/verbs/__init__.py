"""One description of every verb: the vocabulary of parameters, the table of verbs, and their signatures."""
