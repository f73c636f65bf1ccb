"""The parts of one Memory as wired, and what every verb needs of them."""
