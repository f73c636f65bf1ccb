"""Consolidation: facts and rules that a language model proposes from episodes, and that quotes prove."""
