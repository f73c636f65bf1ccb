"""What time does to a memory as a whole: what decays, and what is cleaned away."""
