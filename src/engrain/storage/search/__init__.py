"""Search: namespaces, matching, candidates, ranking traits and history."""
