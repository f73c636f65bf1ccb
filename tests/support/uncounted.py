"""Answers to compare: what an answer finds counts as referenced soon after, so the next one shows another count."""

_COUNTED = {"reference_count", "last_referenced_at"}


def uncounted(value):
    """A record, or its JSON, as JSON without its references."""
    plain = value.to_dict() if hasattr(value, "to_dict") else value
    if isinstance(plain, dict):
        return {key: uncounted(each) for key, each in plain.items() if key not in _COUNTED}
    return [uncounted(each) for each in plain] if isinstance(plain, list | tuple) else plain
