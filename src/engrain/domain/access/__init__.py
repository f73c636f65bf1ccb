"""Access: roles, keys and pools."""
