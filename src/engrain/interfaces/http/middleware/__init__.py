"""Middleware of the HTTP server: request guards, concurrency limit, access log and slow-client timeouts."""
