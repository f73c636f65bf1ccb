"""Rules: how marks of help and harm change their maturity."""
