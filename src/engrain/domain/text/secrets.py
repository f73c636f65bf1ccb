"""Detection of secrets in texts: keys, tokens, passwords, card numbers. Patterns are strict: a weak match is no secret.

A `Secret` has a kind, a position and a masked form, never the secret itself.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from engrain.domain.text.patterns import lazy_pattern
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engrain.domain.joined_texts import JoinedTexts

SecretKind = Literal["private_key", "api_key", "jwt", "password", "url_password", "card_number"]
SecretPolicy = Literal["mask", "refuse", "keep"]
SECRET_KINDS: tuple[SecretKind, ...] = get_args(SecretKind)
MASK = "********"


class Secret(NamedTuple):
    """Position of a secret; `shown` is its masked form."""

    kind: SecretKind
    start: int
    end: int
    shown: str


# Every secret has one of these near, or so many digits: most texts have none, and are not looked at further. Each group
# stands behind a text that it cannot do without, as one character is found in a tenth of the time of a word.
_NAMES = ("pass", "pwd", "key", "secret", "token", "auth", "curl", "kennwort", "wachtwoord", "contrase", "senha")
_OPTION_HINTS = ("-pass", "-token", "-secret", "-api-key", "mysql")
_HINTS = (
    (":", ("://", *_NAMES)),
    ("=", _NAMES),
    ("is", _NAMES),
    ("-", ("-----begin", "-----end", *_OPTION_HINTS)),
    (".", ("eyj",)),
)
_ALL_HINTS = tuple(dict.fromkeys(hint for _, hints in _HINTS for hint in hints))
# These are API keys, which have a digit.
_KEY_HINTS = (
    ("_", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk_", "rk_", "hf_", "npm_", "whsec_", "dop_v1_")),
    ("-", ("glpat-", "xox", "xapp-", "sk-", "pypi-", "gocspx-", "age-secret-key-")),
    (".", ("sg.", "hvs.", "hooks.slack.com")),
    ("a", ("akia", "asia", "aiza")),
)
_NO_DIGITS = bytes(range(256)).translate(None, b"0123456789")
_CARD_DIGITS = 13
_BARE_DIGITS = bytes(ord("0" if chr(code).isdigit() and code < 128 else "x") for code in range(256))  # noqa: PLR2004  # ASCII
# A text of megabytes is looked through in parts, and only where a part has a hint; a secret that begins in one is found
# whole if it ends within the margin.
_PART_CHARACTERS, _MARGIN_CHARACTERS = 100_000, 10_000
_LONG_NUMBER = lazy_pattern(r"\d(?:[ -]?\d){12}")
# "The password is ...", and "New wifi password: ..." or "WLAN-Passwort: ..." of a household.
_TOLD = lazy_pattern(
    r"(?:\bis\s{1,3}|\b(?:wi-?fi|wlan|guest)(?: network)?[ -](?:pass(?:wor[dt]|phrase)|wachtwoord):\s{1,3})[\"'`]?$",
    re.IGNORECASE,
)
_BEFORE_TOLD = 32  # characters
_PRIVATE_KEY = lazy_pattern(r"-----(BEGIN|END) (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----")
_LINE_END = lazy_pattern(r"\n|\\n")
_KEY_LINE = lazy_pattern(r"[ \t>]*([A-Za-z0-9+/]{1,100}={0,2})[ \t\r]*")
_QUOTE = lazy_pattern(r"[ \t>]*")
_MOST_KEY_CHARACTERS = 20_000
# Prefix, and what must follow it, as their issuers write them; the prefix is public and may be shown.
_API_KEY = lazy_pattern(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(AKIA|ASIA)[A-Z0-9]{16}"  # Amazon
    r"|(AIza)[A-Za-z0-9_-]{35}|(GOCSPX-)[A-Za-z0-9_-]{20,}"  # Google
    r"|(gh[pousr]_)[A-Za-z0-9]{36}|(github_pat_)[A-Za-z0-9_]{60,}"
    r"|(glpat-)[A-Za-z0-9_-]{20,}"
    r"|(xox[abeoprs]-)[A-Za-z0-9-]{20,}|(xapp-)\d-[A-Za-z0-9-]{20,}"  # Slack
    r"|(hooks\.slack\.com/services/)T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}"
    r"|([sr]k_(?:live|test)_)[A-Za-z0-9]{20,}|(whsec_)[A-Za-z0-9+/]{20,}={0,2}"  # Stripe
    r"|(sk-(?:ant-|proj-|or-)?)[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic, OpenRouter
    r"|(hf_)[A-Za-z0-9]{30,}|(npm_)[A-Za-z0-9]{36}|(pypi-)[A-Za-z0-9_-]{50,}"
    r"|(SG\.)[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"  # SendGrid
    r"|(hvs\.)[A-Za-z0-9_-]{20,}|(dop_v1_)[a-f0-9]{64}|(AGE-SECRET-KEY-1)[A-Z0-9]{50,}"  # Vault, DigitalOcean, age
    r")(?![A-Za-z0-9_-])"
)
# Header and claims are JSON objects, so both begin with `{"` in base64 (RFC 7519 §3).
_JWT = lazy_pattern(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}(?![A-Za-z0-9_-])"
)
# The last @ before the path ends a password. In the address of a database it may hold a slash, though it should not.
_URL_PASSWORD = lazy_pattern(
    r"\b([a-z][a-z0-9+.-]{1,20}://)[^\s/:@]{0,64}:([^\s/\"'`<>]{3,200})@[A-Za-z0-9\[]", re.IGNORECASE
)
_DATABASE_PASSWORD = lazy_pattern(
    r"\b((?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse)(?:\+[a-z0-9]+)?://)"
    r"[^\s/:@]{0,64}:([^\s?\"'`<>]{3,200})@[A-Za-z0-9\[]",
    re.IGNORECASE,
)
_PORT = lazy_pattern(r"\d{1,5}[/?#]")
_NAMED = lazy_pattern(
    r"(?P<name>(?P<password>pass(?:wor[dt]|wd|phrase)|(?<![A-Za-z0-9])(?:pwd|senha)|kennwort|wachtwoord"
    r"|contrase\u00f1a|mot de passe|palavra-passe)|(?<![A-Za-z0-9])(?:api[ _-]?key|client[ _-]?secret|authorization)"
    r"|secret(?:[ _-]?(?:access[ _-]?)?key(?:[ _-]?base)?)?|(?:access|auth|bearer|refresh|api)[ _-]?token"
    r"|(?P<vague>token|(?:account|access|private|signing|encryption)[ _-]?key))"
    r"(?:\\{0,3}[\"'])?\]?"
    r"(?P<link>\s{0,3}(?:=|:=|:|=>)\s{0,3}(?:(?:bearer|basic|token)\s{1,3})?|\s{1,3}is\s{1,3})"
    r"(?P<value>\"[^\"\n]{4,4000}\"|'[^'\n]{4,4000}'|`[^`\n]{4,4000}`|\\{1,3}[\"'][^\"'\\\n]{4,4000}"
    r"|[^\s\"'`,;]{4,4000})",
    re.IGNORECASE,
)
# Variables of a shell, as they stand in its commands and in files of settings.
_VARIABLE = lazy_pattern(
    r"(?<![A-Za-z0-9_])(?![A-Z0-9_]*PUBLI(?:C|SHABLE)_)[A-Z0-9_]{1,60}_(?:KEY|(?P<auth>AUTH))="
    r"[\"']?(?P<value>[^\s\"'`;]{4,4000})"
)
# In one command, which a backslash carries on to the next line.
_WORDS = r"(?:\\\n|(?!&&)[^\n|;]){0,300}?"
_OPTION = lazy_pattern(
    rf"(?:\bcurl\b{_WORDS}\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{{1,64}}:"
    rf"|\bmysql(?:dump|admin)?\b{_WORDS}\s-p|--(?:[a-z]{{1,20}}-)?pass(?:word|wd|phrase)?\s{{1,3}}[\"']?"
    r"|--(?:[a-z]{1,20}-)?(?P<vague>token|secret|api-key)\s{1,3}[\"']?)(?P<value>[^\s\"']{4,4000})"
)
_CARD = lazy_pattern(r"(?<![\w.+/-])(?:\d[ -]?){12,18}\d(?![\w/-]|\.\d)")
# Placeholders for passwords in documentation, templates and masks; names of variables.
_PLACEHOLDER = lazy_pattern(
    r"^(?:[<\[({].*|\$(?:[{(].*|[a-z_]\w*|\d|(?-i:[A-Z][A-Z0-9_]{2,}\b).*)|%[a-z_(].*|[^<\[({]*+.+[>\])}]|[*x.•_#?-]+"
    r"|.*(?:\.\.\.|\*\*\*|…).*|(?:os\.|process\.|env[.\[(]|getenv|config\.|settings\.).*"
    r"|.*(?:example|placeholder|redacted|changeme|dummy|foobar).*|(?:.*[^a-z0-9])?(?:your|my)[_-].*)$",
    re.IGNORECASE,
)
# A word, path, address, date, number with its unit, or a call in a program.
_PLAIN = lazy_pattern(
    r"\d[-./:\d]*|[A-Za-z]+(?:[-_./][A-Za-z]+)*\(?|https?://.*|\.?/.*|\d+[-_ ]?[A-Za-z]+|[A-Za-z_][\w.]*\(.*"
)
_AMAZON_SECRET = lazy_pattern(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9/+]{40}")
_OPENS = lazy_pattern(r"[<\[({]")
_CLOSES = lazy_pattern(r"(?<![>\])}.!?])([.!?]*+)[>\])}][>\])}.!?]*+$")
_RUN = lazy_pattern(r"[A-Za-z0-9]{8,}")
_TURN = lazy_pattern(r"(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]")
# Issuer prefixes and lengths (ISO/IEC 7812): Visa, Mastercard, American Express, Discover, Diners Club, JCB.
_ISSUERS = lazy_pattern(
    r"(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12})"
)
_LEAST_PASSWORD, _LEAST_NAMED_KEY = 6, 12
_LEAST_VARIETY = 5


def find_secrets(text: str, *, is_label: bool = False) -> list[Secret]:
    """Secrets of a text, in their order; of overlapping ones the first.

    In a label, which is a name or a value of JSON, digits in a row are an id or a telephone number, and a card number
    only where it says so.
    """
    if not may_hold_secret(text):
        return []
    matches = [*_private_keys(text)]
    for start in range(0, len(text), _PART_CHARACTERS):
        end = min(start + _PART_CHARACTERS + _MARGIN_CHARACTERS, len(text))
        lowered = text[start:end].lower()
        for find, hints in _FINDERS.items():
            if not lowered.isascii() or any(hint in lowered for hint in hints):
                matches += find(text, start, end)
    if is_label and "card" not in text.lower():
        matches = [one for one in matches if one.kind != "card_number" or not text[one.start : one.end].isdigit()]
    matches.sort(key=lambda secret: (secret.start, -secret.end, secret.kind))
    secrets: list[Secret] = []
    for secret in matches:
        if not secrets or secret.start >= secrets[-1].end:
            secrets.append(secret)
    return secrets


def apply_policy(text: str, policy: SecretPolicy, *, context: str = "", is_label: bool = False) -> str:
    """The text as it may be stored: with its secrets masked, as it is, or not at all.

    A password in a sentence ("the Wi-Fi password is ...") stays: somebody tells it to be remembered. Keys, tokens and
    card numbers are masked there, too. `context` stands before the text and says what it is, such as "password=";
    `is_label` is that of `find_secrets`.

    Raises:
        InvalidInput: the policy is to refuse, and there is a secret; the message has its kind alone.
    """
    whole = context + text if context else text
    if policy == "keep" or not may_hold_secret(whole):
        return text
    found = [secret for secret in find_secrets(whole, is_label=is_label) if not _is_told(whole, secret)]
    found = [secret for secret in found if secret.end > len(context)]
    if not found:
        return text
    if policy == "refuse":
        kinds = ", ".join(dict.fromkeys(secret.kind.replace("_", " ") for secret in found))
        raise InvalidInput(f"the text holds a secret ({kinds}) and nothing was written: leave it out")
    pieces, at = [], len(context)
    for secret in found:
        pieces += [whole[at : secret.start], MASK]
        at = secret.end
    return "".join([*pieces, whole[at:]])


def apply_policy_to_value(value: Any, policy: SecretPolicy) -> Any:
    """A label, or a value of JSON with all labels in it, as it may be stored; a key says what its text is.

    Raises:
        InvalidInput: as `apply_policy`.
    """
    if isinstance(value, str):
        return apply_policy(value, policy, is_label=True)
    if policy == "keep" or not value or not may_hold_secret(json.dumps(value, ensure_ascii=False)):
        return value
    return _apply_in_json(value, policy, "")


def _apply_in_json(value: Any, policy: SecretPolicy, context: str) -> Any:
    match value:
        case str():
            return apply_policy(value, policy, context=context, is_label=True)
        case list() | tuple():
            return type(value)(_apply_in_json(item, policy, context) for item in value)
        case dict():
            return {
                apply_policy(key, policy, is_label=True): _apply_in_json(item, policy, f"{key}=")
                for key, item in value.items()
            }
        case _:
            return value


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
    return (
        secret.kind == "password" and _TOLD.search(text, max(0, secret.start - _BEFORE_TOLD), secret.start) is not None
    )


def may_hold_secret(text: str) -> bool:
    """Tell whether a text is to be looked through for secrets: of one that is not, nothing is masked."""
    lowered = text.lower()
    is_ascii = lowered.isascii()  # else another character may be a digit, or the same letter to a pattern
    digits = len(lowered.encode().translate(None, _NO_DIGITS)) if is_ascii else _CARD_DIGITS
    if digits >= _CARD_DIGITS and _LONG_NUMBER.search(lowered) is not None:
        return True
    for mark, hints in (*_HINTS, *_KEY_HINTS) if digits else _HINTS:
        if mark in lowered or not is_ascii:
            for hint in hints:  # a generator for any() is a call for each hint of every turn
                if hint in lowered:
                    return True
    return False


def _private_keys(text: str) -> Iterator[Secret]:
    """Find the blocks of private keys: from where one begins, or its last lines, to its end or that of the text."""
    start: int | None = None
    last = 0  # where the mark before ends
    for mark in _PRIVATE_KEY.finditer(text):
        if mark[1] == "BEGIN":
            start = mark.start() if start is None else start
        else:
            if start is None:
                start = _find_key_lines(text, max(last, mark.start() - _MOST_KEY_CHARACTERS), mark.start())
            yield Secret("private_key", start, mark.end(), f"private key {MASK}")
            start = None
        last = mark.end()
    if start is not None:
        yield Secret("private_key", start, len(text), f"private key {MASK}")


def _find_key_lines(text: str, start: int, end: int) -> int:
    """Find the beginning of the lines of base64 at the end of a part of a text; its end where there are none."""
    breaks = [match.span() for match in _LINE_END.finditer(text, start, end)]
    begins = [*([] if start else [0]), *(after for _, after in breaks)]  # elsewhere a part may begin within a line
    ends = [before for before, _ in breaks[1 if start else 0 :]]
    if not breaks or _QUOTE.fullmatch(text, begins[-1], end) is None:
        return end
    found = end
    for begin, line_end in zip(reversed(begins[:-1]), reversed(ends), strict=True):
        line = _KEY_LINE.fullmatch(text, begin, line_end)
        if line is not None:
            found = line.start(1)
        elif found < end or _QUOTE.fullmatch(text, begin, line_end) is None:  # blank lines may stand before the mark
            break
    return found


def _api_keys(text: str, start: int, end: int) -> Iterator[Secret]:
    for match in _API_KEY.finditer(text, start, end):
        prefix = next(group for group in match.groups() if group is not None)
        body = match[0][len(prefix) :]
        if len(set(body)) >= 2 * _LEAST_VARIETY and any(char.isdigit() for char in body):
            yield Secret("api_key", match.start(), match.end(), prefix + MASK)


def _jwts(text: str, start: int, end: int) -> Iterator[Secret]:
    for match in _JWT.finditer(text, start, end):
        yield Secret("jwt", match.start(), match.end(), f"eyJ{MASK}")


def _url_passwords(text: str, start: int, end: int) -> Iterator[Secret]:
    for pattern in (_URL_PASSWORD, _DATABASE_PASSWORD):
        for match in pattern.finditer(text, start, end):
            is_named = _PLACEHOLDER.match(match[2]) or match[2].lower() in {"password", "pass", "pwd", "secret"}
            if not is_named and not _PORT.match(match[2]):
                yield Secret("url_password", match.start(2), match.end(2), f"{match[1]}{MASK}")


def _named(text: str, start: int, end: int) -> Iterator[Secret]:
    """Find `password = ...` and the like, followed by one word such as only machines and passwords have."""
    for match in _NAMED.finditer(text, start, end):
        named, inner = match["name"].lower(), match["value"].strip("\\\"'`")
        value = inner if _OPENS.search(inner) else _CLOSES.sub(r"\1", inner)
        is_password, is_vague = match["password"] is not None, match["vague"] is not None
        is_prose = "is" in match["link"].lower().split()
        if _looks_secret(value.rstrip(".!?)"), is_password=is_password, is_vague=is_vague, is_prose=is_prose):
            at = match.start("value") + match["value"].index(inner)
            yield Secret("password" if is_password else "api_key", at, at + len(value), f"{named}={MASK}")


def _variables(text: str, start: int, end: int) -> Iterator[Secret]:
    """Find variables whose names end in `_KEY` or `_AUTH`, with the values of such."""
    for match in _VARIABLE.finditer(text, start, end):
        is_password = match["auth"] is not None
        if _looks_secret(match["value"], is_password=is_password, is_vague=not is_password):
            yield Secret("password" if is_password else "api_key", *match.span("value"), f"variable {MASK}")


def _options(text: str, start: int, end: int) -> Iterator[Secret]:
    """Find passwords and tokens among the options of a command."""
    for match in _OPTION.finditer(text, start, end):
        is_vague = match["vague"] is not None
        if _looks_secret(match["value"], is_password=not is_vague, is_vague=is_vague, is_prose=True):
            yield Secret("api_key" if is_vague else "password", *match.span("value"), f"option {MASK}")


def _looks_secret(value: str, *, is_password: bool, is_vague: bool, is_prose: bool = False) -> bool:
    """True if a word mixes letters and digits, or signs, as no plain word, date or path does.

    After a vague name, such as token, only what a machine has drawn is a secret.
    """
    if len(value) < (_LEAST_PASSWORD if is_password else _LEAST_NAMED_KEY) or len(set(value)) < _LEAST_VARIETY:
        return False
    if _PLACEHOLDER.match(value) or " " in value:
        return False
    if is_vague:
        return not value.startswith("0x") and _PLAIN.fullmatch(value) is None and _looks_drawn(value)
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if is_prose and not (has_letter and has_digit):
        return False
    if _PLAIN.fullmatch(value) and not _AMAZON_SECRET.fullmatch(value):
        return False
    return has_letter and (has_digit or bool(re.search(r"[!@#$%^&*+=~]", value)))


def _looks_drawn(value: str) -> bool:
    """True if a run of 8 letters and digits changes twice between them, as names with a number do not."""
    return any(len(_TURN.findall(run)) > 1 for run in _RUN.findall(value))


def _cards(text: str, start: int, end: int) -> Iterator[Secret]:
    for match in _CARD.finditer(text, start, end):
        digits = re.sub(r"[ -]", "", match[0])
        if _ISSUERS.fullmatch(digits) and len(set(digits)) > 1 and _passes_luhn(digits):
            yield Secret("card_number", match.start(), match.end(), f"card of {len(digits)} digits {MASK}")


def _passes_luhn(digits: str) -> bool:
    """True if the check digit is right (ISO/IEC 7812-1, annex B)."""
    doubled = [int(digit) * (2 if index % 2 else 1) for index, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0  # noqa: PLR2004  # sum of its digits


# With what one of their secrets has: most finders need not look at a text at all.
_FINDERS: Mapping[Callable[[str, int, int], Iterator[Secret]], Sequence[str]] = {
    _api_keys: [hint for _, hints in _KEY_HINTS for hint in hints],
    _jwts: ["eyj"],
    _url_passwords: ["://"],
    _named: _NAMES,
    _variables: ["_key=", "_auth="],
    _options: ["curl", *_OPTION_HINTS],
    _cards: list("0123456789"),
}
