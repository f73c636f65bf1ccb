"""What time costs: a simulated year of sweeps, and one sweep beside a bare UPDATE."""
