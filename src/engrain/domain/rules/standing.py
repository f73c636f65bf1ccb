"""Standing rules: those that hold whatever is asked, as far as their words and what they have proved say. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from engrain.domain.records import Rule

# Words that say when a rule holds, in six languages: it stands where a prompt is about that.
_CONDITION = lazy_pattern(
    r"\b(?:when|whenever|if|unless|while|before|after|during|until|once|wenn|falls|bevor|nachdem|während|cuando|si|mientras"
    r"|antes|quand|lorsque|avant|après|quando|mentre|prima|dopo|se|enquanto|depois)\b",
    re.IGNORECASE,
)


def is_standing(rule: Rule) -> bool:
    """True for a rule without a condition that somebody has stated, or that has proved itself; a warning is neither."""
    is_trusted = rule.source_episode_id is None or rule.maturity in {"established", "proven"}
    return rule.maturity != "anti_pattern" and is_trusted and _CONDITION.search(rule.content) is None
