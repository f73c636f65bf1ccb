"""The memory of one agent: the verbs of the facade, and the work behind them with the parts of one Memory."""
