"""What a backup and a restore cost as memories grow, and whether the two databases say the same afterwards."""
