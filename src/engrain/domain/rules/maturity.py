"""Maturity of rules: effectiveness, promotion, demotion, and inversion into a warning. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.memories.decay import days_between
from engrain.domain.records import Maturity, Record, Rule
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from datetime import datetime


Outcome = Literal["helpful", "harmful"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

# One harm weighs as much as four helps; the rest keeps the quotient defined.
HARM_WEIGHT = 4
_NEVER_ZERO = 0.01
_NO_PLAIN_INSTRUCTION = lazy_pattern(
    r"(?:never|don['\u2019]?t|do not|not|no|avoid|always|whenever|when|if|every time|from now on)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds(Record):
    """Requirements of each step: helps, effectiveness in [0, 1], days since the rule was added, and harms."""

    established_successes: int = 5
    established_effectiveness: float = 0.6
    proven_successes: int = 15
    proven_effectiveness: float = 0.8
    proven_days: float = 30.0
    warning_harms: int = 3
    warning_effectiveness: float = 0.3


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Application(Record):
    """One use of a rule, with its outcome."""

    id: str
    tenant_id: str
    rule_id: str
    agent: str
    outcome: Outcome
    context: str | None = None
    created_at: datetime


def effectiveness_after_help(success_count: int, applied_count: int) -> float:
    """Effectiveness after a helpful mark, counted in: the share of applications that helped, in [0, 1]."""
    return success_count / applied_count


def effectiveness_after_harm(success_count: int, harmful_count: int) -> float:
    """Effectiveness after a harmful mark, counted in: `successes / (successes + 4 * harms + 0.01)`, in [0, 1)."""
    return success_count / (success_count + HARM_WEIGHT * harmful_count + _NEVER_ZERO)


def promote(
    maturity: Maturity,
    *,
    success_count: int,
    effectiveness: float,
    age_days: float,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
) -> Maturity:
    """The next maturity if the rule meets its requirements, else the same."""
    match maturity:
        case "candidate" if (
            success_count >= thresholds.established_successes and effectiveness >= thresholds.established_effectiveness
        ):
            return "established"
        case "established" if (
            success_count >= thresholds.proven_successes
            and effectiveness >= thresholds.proven_effectiveness
            and age_days >= thresholds.proven_days
        ):
            return "proven"
        case _:
            return maturity


def demote(maturity: Maturity, *, effectiveness: float, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> Maturity:
    """The previous maturity if the rule no longer meets the requirements of its own, else the same."""
    match maturity:
        case "proven" if effectiveness < thresholds.proven_effectiveness:
            return "established"
        case "established" if effectiveness < thresholds.established_effectiveness:
            return "candidate"
        case _:
            return maturity


def is_warning(harmful_count: int, effectiveness: float, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> bool:
    """True if a rule did so much harm that it becomes a warning."""
    return harmful_count >= thresholds.warning_harms and effectiveness < thresholds.warning_effectiveness


def apply_outcome(
    rule: Rule, outcome: Outcome, *, reason: str | None, at: datetime, thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Rule:
    """The rule after one more use; a rule that keeps doing harm is inverted. A warning stays one."""
    counted = replace(rule, applied_count=rule.applied_count + 1, last_applied_at=at, last_evaluated_at=at)
    return _apply_help(counted, at, thresholds) if outcome == "helpful" else _apply_harm(counted, reason, thresholds)


def invert(rule: Rule) -> Rule:
    """The warning that a rule becomes; its old content stays in `metadata.original_content`.

    Of a rule that is no plain instruction it says not to follow it: "Do NOT Never fly early" is no sentence.
    """
    instruction = rule.content.rstrip(" .!") or rule.content
    if _NO_PLAIN_INSTRUCTION.match(instruction):
        instruction = f'follow "{instruction}"'
    reasons = "; ".join(dict.fromkeys(str(reason).rstrip(" .!") for reason in _reasons(rule)))
    because = reasons or "no reason was given"
    return replace(
        rule,
        maturity="anti_pattern",
        content=f"ANTI-PATTERN: Do NOT {instruction}. This caused problems because: {because}",
        metadata={**rule.metadata, "original_content": rule.content},
    )


def _apply_help(rule: Rule, at: datetime, thresholds: Thresholds) -> Rule:
    successes = rule.success_count + 1
    effectiveness = effectiveness_after_help(successes, rule.applied_count)
    maturity = promote(
        rule.maturity,
        success_count=successes,
        effectiveness=effectiveness,
        age_days=days_between(rule.created_at, at),
        thresholds=thresholds,
    )
    return replace(rule, success_count=successes, effectiveness_score=effectiveness, maturity=maturity)


def _apply_harm(rule: Rule, reason: str | None, thresholds: Thresholds) -> Rule:
    harms = rule.harmful_count + 1
    effectiveness = effectiveness_after_harm(rule.success_count, harms)
    metadata: dict[str, Any] = dict(rule.metadata)
    if reason is not None:
        metadata["harmful_reasons"] = [*_reasons(rule), reason]
    is_harmful = is_warning(harms, effectiveness, thresholds)
    if is_harmful:
        metadata["needs_inversion"] = True
    after = replace(
        rule,
        harmful_count=harms,
        effectiveness_score=effectiveness,
        maturity=demote(rule.maturity, effectiveness=effectiveness, thresholds=thresholds),
        metadata=metadata,
    )
    return invert(after) if is_harmful and rule.maturity != "anti_pattern" else after


def _reasons(rule: Rule) -> list[Any]:
    """Reasons so far; any other value under the key becomes the first."""
    reasons = rule.metadata.get("harmful_reasons", [])
    return list(reasons) if isinstance(reasons, list | tuple) else [reasons]
