"""Dialogue: what a question asks for, and which statement puts which right."""
