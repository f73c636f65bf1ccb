"""Language models by provider, with what they share: response checks and a usage meter."""
