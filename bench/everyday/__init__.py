"""Scripted conversations of several days, with what a good memory answers at each step."""
