"""Memories in and out of files: conversations of other systems, and engrain's own exchange format."""
