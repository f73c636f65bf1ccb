"""Lifecycle benchmark: a simulated year of sweeps, and one sweep beside a bare UPDATE."""
