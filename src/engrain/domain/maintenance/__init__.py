"""Maintenance: backups, retention, audits, statistics and readiness."""
