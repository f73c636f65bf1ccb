"""Background jobs: schedules, and the worker that does what is due."""
