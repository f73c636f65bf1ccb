"""Runs of learning and jobs: claims, plans, outcomes and reversal."""
