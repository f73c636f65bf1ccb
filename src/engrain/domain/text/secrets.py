"""Detection of secrets in texts: keys, tokens, passwords, card numbers. Patterns are strict: a weak match is no secret.

A `Secret` has a kind, a position and a masked form, never the secret itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from engrain.domain.text.patterns import lazy_pattern
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engrain.domain.joined_texts import JoinedTexts

SecretKind = Literal["private_key", "api_key", "jwt", "password", "url_password", "card_number"]
SecretPolicy = Literal["mask", "refuse", "keep"]
SECRET_KINDS: tuple[SecretKind, ...] = get_args(SecretKind)
# A bound on the work for a text of megabytes.
MOST_CHARACTERS = 200_000
MASK = "********"


class Secret(NamedTuple):
    """Position of a secret; `shown` is its masked form."""

    kind: SecretKind
    start: int
    end: int
    shown: str


# Every secret has one of these near, or so many digits: most texts have none, and are not looked at further. Each group
# stands behind a text that it cannot do without, as one character is found in a tenth of the time of a word.
_NAMES = ("pass", "pwd", "key", "secret", "token", "authorization")
_HINTS = ((":", ("://", *_NAMES)), ("=", _NAMES), ("is", _NAMES), ("-", ("-----begin",)), (".", ("eyj",)))
_ALL_HINTS = tuple(dict.fromkeys(hint for _, hints in _HINTS for hint in hints))
# These are API keys, which have a digit.
_KEY_HINTS = (
    ("_", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk_", "rk_", "hf_", "npm_")),
    ("-", ("glpat-", "xox", "sk-", "pypi-")),
    (".", ("sg.",)),
    ("a", ("akia", "asia", "aiza")),
)
_DIGITS = b"0123456789"
_CARD_DIGITS = 13
_BARE_DIGITS = bytes(ord("0" if chr(code).isdigit() and code < 128 else "x") for code in range(256))  # noqa: PLR2004  # ASCII
_LONG_NUMBER = lazy_pattern(r"\d(?:[ -]?\d){12}")
_TOLD = lazy_pattern(r"\bis\s{1,3}[\"'`]?$", re.IGNORECASE)
_PRIVATE_KEY_END = lazy_pattern(r"-----END (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----")
_PRIVATE_KEY = lazy_pattern(r"-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----")
# Prefix, and what must follow it, as their issuers write them; the prefix is public and may be shown.
_API_KEY = lazy_pattern(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(AKIA|ASIA)[A-Z0-9]{16}"  # Amazon
    r"|(AIza)[A-Za-z0-9_-]{35}"  # Google
    r"|(gh[pousr]_)[A-Za-z0-9]{36}|(github_pat_)[A-Za-z0-9_]{60,}"
    r"|(glpat-)[A-Za-z0-9_-]{20,}"
    r"|(xox[abeoprs]-)[A-Za-z0-9-]{20,}"  # Slack
    r"|([sr]k_(?:live|test)_)[A-Za-z0-9]{20,}"  # Stripe
    r"|(sk-(?:ant-|proj-|or-)?)[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic, OpenRouter
    r"|(hf_)[A-Za-z0-9]{30,}|(npm_)[A-Za-z0-9]{36}|(pypi-)[A-Za-z0-9_-]{50,}"
    r"|(SG\.)[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"  # SendGrid
    r")(?![A-Za-z0-9_-])"
)
# Header and claims are JSON objects, so both begin with `{"` in base64 (RFC 7519 §3).
_JWT = lazy_pattern(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}(?![A-Za-z0-9_-])"
)
_URL_PASSWORD = lazy_pattern(
    r"\b([a-z][a-z0-9+.-]{1,20}://)([^\s/:@]{0,64}):([^\s/@]{3,128})@[A-Za-z0-9\[]", re.IGNORECASE
)
_NAMED = lazy_pattern(
    r"(?<![A-Za-z0-9])(pass(?:word|wd|phrase)|pwd|api[ _-]?key|secret(?:[ _-]?(?:access[ _-]?)?key)?|client[ _-]?secret"
    r"|(?:access|auth|bearer|refresh|api)[ _-]?token|authorization)"
    r"[\"']?(\s{0,3}(?:=|:=|:|=>)\s{0,3}(?:bearer\s{1,3}|basic\s{1,3})?|\s{1,3}is\s{1,3})"
    r"(\"[^\"\n]{4,200}\"|'[^'\n]{4,200}'|`[^`\n]{4,200}`|[^\s\"'`,;]{4,200})",
    re.IGNORECASE,
)
_CARD = lazy_pattern(r"(?<![\w.+/-])(?:\d[ -]?){12,18}\d(?![\w/-]|\.\d)")
# Placeholders for passwords in documentation, templates and masks.
_PLACEHOLDER = lazy_pattern(
    r"^(?:[<\[({$%].*|.*[>\])}%]|[*x.•_#?-]+|.*(?:\.\.\.|\*\*\*|…).*|(?:os\.|process\.|env[.\[(]|getenv|config\.|settings\.).*"
    r"|.*(?:example|placeholder|redacted|changeme|dummy|your[_-]|my[_-]|foobar).*)$",
    re.IGNORECASE,
)
# Issuer prefixes and lengths (ISO/IEC 7812): Visa, Mastercard, American Express, Discover, Diners Club, JCB.
_ISSUERS = lazy_pattern(
    r"(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12})"
)
_LEAST_PASSWORD, _LEAST_NAMED_KEY = 6, 12
_LEAST_VARIETY = 5


def find_secrets(text: str) -> list[Secret]:
    """Secrets in the first 200,000 characters, in their order; of overlapping ones the first."""
    clipped = text[:MOST_CHARACTERS]
    matches = sorted(
        (secret for find in _FINDERS for secret in find(clipped)),
        key=lambda secret: (secret.start, -secret.end, secret.kind),
    )
    secrets: list[Secret] = []
    for secret in matches:
        if not secrets or secret.start >= secrets[-1].end:
            secrets.append(secret)
    return secrets


def apply_policy(text: str, policy: SecretPolicy) -> str:
    """The text as it may be stored: with its secrets masked, as it is, or not at all.

    A password in a sentence ("the Wi-Fi password is ...") stays: somebody tells it to be remembered. Keys, tokens and
    card numbers are masked there, too.

    Raises:
        InvalidInput: the policy is to refuse, and there is a secret; the message has its kind alone.
    """
    if policy == "keep" or not may_hold_secret(text):
        return text
    found = find_secrets(text)
    secrets = [secret for secret in found if not _is_told(text, secret)]
    if not secrets:
        return text
    if policy == "refuse":
        kinds = ", ".join(dict.fromkeys(secret.kind.replace("_", " ") for secret in secrets))
        raise InvalidInput(f"the text holds a secret ({kinds}) and nothing was written: leave it out")
    pieces, at = [], 0
    for secret in secrets:
        pieces += [text[at : secret.start], MASK]
        at = _private_key_end(text, secret) if secret.kind == "private_key" else secret.end
    return "".join([*pieces, text[at:]])


def apply_policy_to_all(texts: Sequence[str], joined: JoinedTexts, policy: SecretPolicy) -> list[str]:
    """The texts, which are `joined` too, each as `apply_policy` returns it."""
    cleaned = list(texts)
    for place in set() if policy == "keep" else _find_suspects(joined):
        cleaned[place] = apply_policy(texts[place], policy)
    return cleaned


def _find_suspects(texts: JoinedTexts) -> set[int]:
    """The places of all texts of which `may_hold_secret` is true, and of some others."""
    joined, suspects = texts.joined, set(texts.foreign)
    digits = joined.encode("utf-8", "replace").translate(_BARE_DIGITS, b" -")
    suspects |= texts.find(_ALL_HINTS)
    for mark, hints in _KEY_HINTS if b"0" in digits else ():
        if mark in joined:
            suspects |= texts.find(hints)
    if b"0" * _CARD_DIGITS in digits:
        suspects |= {place for place, text in enumerate(texts.lowered) if _LONG_NUMBER.search(text)}
    return suspects


def _is_told(text: str, secret: Secret) -> bool:
    return secret.kind == "password" and _TOLD.search(text, max(0, secret.start - 8), secret.start) is not None


def may_hold_secret(text: str) -> bool:
    """Tell whether a text is to be looked through for secrets: of one that is not, nothing is masked."""
    lowered = text[:MOST_CHARACTERS].lower()
    is_ascii = lowered.isascii()  # else another character may be a digit, or the same letter to a pattern
    digits = len(lowered) - len(lowered.encode().translate(None, _DIGITS)) if is_ascii else _CARD_DIGITS
    if digits >= _CARD_DIGITS and _LONG_NUMBER.search(lowered) is not None:
        return True
    for mark, hints in (*_HINTS, *_KEY_HINTS) if digits else _HINTS:
        if mark in lowered or not is_ascii:
            for hint in hints:  # a generator for any() is a call for each hint of every turn
                if hint in lowered:
                    return True
    return False


def _private_key_end(text: str, secret: Secret) -> int:
    """The end of the block that a private key begins; the end of the text where it has none."""
    end = _PRIVATE_KEY_END.search(text, secret.end)
    return len(text) if end is None else end.end()


def _private_keys(text: str) -> Iterator[Secret]:
    for match in _PRIVATE_KEY.finditer(text):
        yield Secret("private_key", match.start(), match.end(), f"private key {MASK}")


def _api_keys(text: str) -> Iterator[Secret]:
    for match in _API_KEY.finditer(text):
        prefix = next(group for group in match.groups() if group is not None)
        body = match[0][len(prefix) :]
        if len(set(body)) >= 2 * _LEAST_VARIETY and any(char.isdigit() for char in body):
            yield Secret("api_key", match.start(), match.end(), prefix + MASK)


def _jwts(text: str) -> Iterator[Secret]:
    for match in _JWT.finditer(text):
        yield Secret("jwt", match.start(), match.end(), f"eyJ{MASK}")


def _url_passwords(text: str) -> Iterator[Secret]:
    for match in _URL_PASSWORD.finditer(text):
        if not _PLACEHOLDER.match(match[3]) and match[3].lower() not in {"password", "pass", "pwd", "secret"}:
            yield Secret("url_password", match.start(3), match.end(3), f"{match[1]}{MASK}")


def _named(text: str) -> Iterator[Secret]:
    """Find `password = ...` and the like, followed by one word such as only machines and passwords have."""
    for match in _NAMED.finditer(text):
        value = match[3].strip("\"'`").rstrip(".!?)")
        named = match[1].lower()
        is_password = named.startswith(("pass", "pwd"))
        least = _LEAST_PASSWORD if is_password else _LEAST_NAMED_KEY
        if len(value) >= least and _looks_chosen(value, is_prose="is" in match[2].lower().split()):
            yield Secret("password" if is_password else "api_key", match.start(3), match.end(3), f"{named}={MASK}")


def _looks_chosen(value: str, *, is_prose: bool) -> bool:
    """True if a word mixes letters and digits, or signs, as no plain word, date or path does."""
    if _PLACEHOLDER.match(value) or " " in value or len(set(value)) < _LEAST_VARIETY:
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if is_prose and not (has_letter and has_digit):
        return False
    if re.fullmatch(r"\d+[-./:\d]*|[A-Za-z]+(?:[-_./][A-Za-z]+)*\(?|https?://.*|\.?/.*|\d+[-_ ]?[A-Za-z]+", value):
        return False
    return has_letter and (has_digit or bool(re.search(r"[!@#$%^&*+=~]", value)))


def _cards(text: str) -> Iterator[Secret]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"[ -]", "", match[0])
        if _ISSUERS.fullmatch(digits) and len(set(digits)) > 1 and _passes_luhn(digits):
            yield Secret("card_number", match.start(), match.end(), f"card of {len(digits)} digits {MASK}")


def _passes_luhn(digits: str) -> bool:
    """True if the check digit is right (ISO/IEC 7812-1, annex B)."""
    doubled = [int(digit) * (2 if index % 2 else 1) for index, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0  # noqa: PLR2004  # sum of its digits


_FINDERS = (_private_keys, _api_keys, _jwts, _url_passwords, _named, _cards)
