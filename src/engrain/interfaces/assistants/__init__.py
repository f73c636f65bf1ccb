"""Hooks of coding assistants: Claude Code, Codex, Cursor and Gemini CLI, each by its own protocol."""
