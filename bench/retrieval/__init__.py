"""Evidence found on public conversations whose evidence is known: LoCoMo and LongMemEval."""
