"""Operation of a Memory: jobs, backups, monitoring and the instrumentation of its verbs."""
