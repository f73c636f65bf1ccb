"""Statements of a change: those that say that something is otherwise now. Pure.

Words of English, and of six more languages as `foreign_changes` has them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.analysis import select_stems, split_ascii, terms, words
from engrain.domain.text.dialogue import foreign_changes
from engrain.domain.text.dialogue.questions import LEAST_QUESTION_SHARE, strip_question
from engrain.domain.text.languages import ENGLISH, detect_language
from engrain.domain.text.patterns import KeyedPatterns, lazy_pattern

if TYPE_CHECKING:
    from engrain.domain.records import Role

# A longer turn states many things, of which a change is one: of a person's, each sentence is read for itself.
_MOST_CHARACTERS, _MOST_IN_PASSAGE = 160, 800
_SHORT_HINT = 2  # characters: no term of English
_LONGEST_ARTICLE = 40  # characters, with an adjective behind it

# The patterns of changes and denials are in small letters, for a text that `_fold_case` has folded: a tenth of the work
# of ignoring case. Each phrase stands behind keys of which one is in every text that has it, as `split_ascii` gives its
# words, and is looked for there alone: a tenth of the work of one pattern of them all.
_CHANGES = KeyedPatterns(
    r"""
    now: (?<!days\ )(?<!weeks\ )(?<!months\ )(?<!years\ )(?<!while\ )now
    longer: (?:no|any)\ longer
    more anymore: (?:not|\w+n['\u2019]t)\ .{1,40}\ any\ ?more | not\ (?:\S+\ ){1,3}?any\ ?more
    more: no\ more | more\ (?:days?|weeks?|time)
    did+not: not\ (?:\S+\ ){1,3}?as\ \w+\ did
    from+on: from\ \w+\ on
    meantime: in\ the\ meantime
    in+for: (?:stand|fill)(?:s|ing)?\ in\ for
    covers covering: cover(?:s|ing)\ for
    from+today from+tomorrow from+next: from\ (?:today|tomorrow|next)
    as+of: as\ of
    later earlier: (?:is|are|be|starts?|begins?|comes?)\ (?:\S+\ )?(?:days?|weeks?|months?|hours?)\ (?:later|earlier)
    since: since\ (?:today|yesterday|this\ (?:morning|week|month)|(?:mon|tues|wednes|thurs|fri|satur|sun)day)
    starting: starting\ (?:today|tomorrow|next|from)
    rather: rather\ than
    other+than: other\ than
    place: in\ place\ of
    wrong: (?:i|we)\ (?:was|were)\ wrong | got\ (?:it|that|the\ \w+)\ wrong | wrong\ \w+ | is\ wrong
    misread misspoke mistyped misheard misremembered: mis(?:read|spoke|typed|heard|remembered)
    turns: turns\ out
    sorry: sorry,?\ not
    not: ,\ not
    meant: i\ meant
    scratch: scratch\ that
    changed: \w+['\u2019]ve\ changed | (?:has|have|was|were|been|i|we|they)\ changed | ^changed
    changed: changed(?=,|\ to\ |\ again|[.!]|$)
    changed plans: plans?\ (?:(?:have|has|had)\ )?changed
    change: change\ of\ plans?
    switched switching: switch(?:ed|ing)\ (?:\S+\ ){0,3}?(?:to|from)
    moved: (?:has|have)\ moved | moved\ (?:it\ )?(?:to|from|away|out|the)
    moved moving: (?:are|is|am|\w+['\u2019](?:re|s|m)|gets?)\ mov(?:ing|ed)
    updated moved changed extended shortened reduced increased:
        (?:updat|mov|chang|extend|shorten|reduc|increas)ed\ (?:\S+\ ){0,4}?to\ \S*\d
    extend extended: extend(?:ed)?\b.{1,40}\bto
    slips slipped: slip(?:s|ped)\ (?:to|by)
    push pushed pushes pushing: push(?:ed|es|ing)?\ (?:\S+\ ){0,4}?(?:back|by)
    up+went down+went up+goes down+goes up+gone down+gone up+going down+going:
        (?:went|goes|gone|going)\ (?:up|down)\ (?:to|by|from)\ \S*\d+
    called: called\ off
    second: on\ second\ thoughts?
    typo: typo(?!\ (?:in|on|of)\b)
    brought: brought\ forward
    back: (?:came|is|are|am|gone|went)\ back | gave\b.{1,40}\bback | (?:gave|given|got|brought|sent|paid|took)\ back
    up+broke up+broken up+split: (?:broke|broken|split)\ up
    rolled: rolled\ back
    put: put\ off | (?:i|we)\ put
    given gave: (?:given|gave)\ up
    up+give: (?:wants?\ to|will|['\u2019]ll|gonna|going\ to)\ give\ up
    until: (?:can['\u2019]t|cannot|won['\u2019]t)\ .{1,40}\ until
    mistake: by\ mistake
    mixed: mixed\ up
    off+am off+is off+are: (?:am|is|are)\ off
    days: these\ days
    today: today(?!['\u2019]s)
    cut: (?:has|have|was|been)\ cut
    passed: passed\ on
    left: has\ left | (?:^|\b(?:i|we|user)\ )left\ (?!(?:my|our|the|an?|it|at|for|on|in|his|her|some|home|work|early)\b)
    took taken takes: (?:took|taken|takes)\ over
    new: new\ \w+(?:\ is|(?=:)) | (?:my|our|the|a)\ new | ^new\ \w+
    become: has\ become
    out+is: is\ out(?!\ for)
    only: only\ every
    actually: ^(?:(?:oh|no|hm+|ah|well|wait|sorry)\W+)?actually
    all+after: after\ all
    work+t work+not: (?:does|do|did)(?:n['\u2019]t|\ not)\ work
    signed: signed\ over
    handed: handed\ (?!in\b)
    """
    + foreign_changes.PHRASES,
    words=f"""
    instead correction relocated renamed replaced postponed rescheduled cancelled canceled reopened upgraded downgraded
    raised lowered doubled halved transferred quit oops nowadays bumped retired resigned became reverted sold
    again swapped delayed migrated declined returned divorced separated
    {foreign_changes.WORDS}
    """,
)
# In Spanish "no" is any "not", and behind the name of whoever does not do it: "Paco no come pescado."
_BEFORE_NO = (
    r"(?:and|but|so|then|oh|please|pls|still|is|are|was|were|am|be|been|ha[sd]|have|got|gets?|wants?|needs?|takes?|eats?"
    r"|says?|said|with|in|there|it|that|i|we|you|they|he|she|can|will|\w+['\u2019](?:s|m|re|ve|ll|d))"
)
_DENIALS = KeyedPatterns(
    r"""
    t: \w+n['\u2019]t
    up+gave up+given: (?:gave|given)\ up
    instead+of: instead\ of
    rather+than: rather\ than
    out+of: out\ of
    gone+is over+is gone+are over+are: (?:is|are)\ (?:gone|over)
    out+is out+are: (?:is|are)\ out(?!\ for)
    on+is on+are: (?:is|are)\ on\ (?:\S+\ ){0,2}?(?:leave|holidays?|vacation|sabbatical|strike|fire|hold|ice)
    no: (?<!\w\ )no | ya\ no | <said before no>\ no
    from+to: from(?!\ \w+day\ to\b)(?=(?:\ \S+){1,3}?\ to\b)
    """.replace("<said before no>", _BEFORE_NO),
    words="cannot not never off quit stopped wrong only dropped left retired died broke",
)
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])(?<!\b[DM]r\.)(?<!\bMs\.)(?<!\bMrs\.)\s+(?=[^a-z])")
# What is not so, or no more, stands behind or before a denial; before one of a verb stands who does not do it.
_NOT_DOING = r"(?:(?:d|w)o|does|did|ca|(?:c|w|sh)ould|must)n['\u2019]t|cannot|never"
_DENIED = lazy_pattern(
    rf"(?:\b(?:{_NOT_DOING})|(?:\S+\ ){{0,2}}(?!(?:{_NOT_DOING})\b){_DENIALS.source})(?:(?<!,)\ \S+){{0,3}}", re.VERBOSE
)
_PAST = lazy_pattern(
    r"\b(?:was|were|(?<!how many )did|had|used|before|formerly|former|previous(?:ly)?|earlier|original(?:ly)?"
    r"|at first|first|initially|history|ago|yesterday|last|(?<!how )(?<!the )old|oldest|change[ds]?|moved"
    r"|in (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_ASKS_FOR_IDEAS = lazy_pattern(r"\b(?:suggest\w*|recommend\w*|tips?|advice|ideas?)\b", re.IGNORECASE)
_EVENT = lazy_pattern(r"\b(?:was|were|did|had)\b", re.IGNORECASE)
_ENDS_WITH_AGAIN = lazy_pattern(r"\bagain\W*$", re.IGNORECASE)
_WAS = lazy_pattern(r"\b(?:was|were)\b", re.IGNORECASE)
# German for "what".
_WHAT = lazy_pattern(
    r"^\W*was (?=(?:ist|sind|kostete?n?|mach(?:e|st|t)|esse|isst|trink\w+|mag|darf|muss|soll|kann|wiegt"
    r"|arbeitet|studier\w+|gibt|steht|brauch\w+|fehlt|bin|wird|lese|liest|fahr\w+|f\u00fcr|frisst|essen|trinken"
    r"|bekomm\w+|lern\w+|spiel\w+|wei\u00df|wissen|hei\u00dft|will|ha(?:t|be|ben)\b(?!.*ge\w+(?:t|en)\W*$))\b)",
    re.IGNORECASE,
)
_NAME = lazy_pattern(
    r"(?:(?<=\bMr\.\s)|(?<=\bMs\.\s)|(?<=\bDr\.\s)|(?<=\bMrs\.\s)|(?<![.!?:]\s)(?<!^)\b)[A-Z]\w+|\b\w*\d\w*"
)


# In German, directly before a noun that is no name, or before an adjective of it.
_ARTICLE = lazy_pattern(
    r"\b(?:d(?:er|ie|as|en|em|es)|z(?:um|ur)|[ai]m|[ai]ns|vom|beim|dies\w*|jede\w?|alle|viele|zwei|drei|vier"
    r"|(?:[mds]?ein|kein|ihr|unse?r)(?:e[mnrs]?)?)(?-i: [a-z\u00e4\u00f6\u00fc\u00df]+)? $",
    re.IGNORECASE,
)
# Who takes back what they said just before begins so, or says so: "Sorry, 9090.", "It's heron-92, typo."
_TAKES_BACK_FIRST = lazy_pattern(
    r"""\W*(?:(?:oh|ah|no|ok|okay|hm+|and|but|well|argh)\W+)*(?:
    sorry|oops|whoops|wait|hold\ on|correction|typo|scratch\ that|i\ meant?|make\ (?:that|it)|nope|no,|not\ quite
    |my\ (?:bad|mistake)
    |entschuldigung|korrektur|tippfehler|ich\ mein(?:e|te)|halt|moment|quatsch|nein,
    |perd\u00f3n|perdona|correcci\u00f3n|quise\ decir|quiero\ decir|pardon|d\u00e9sol\u00e9e?|je\ voulais\ dire|non,
    |scusa|correzione|volevo\ dire|anzi|desculpa|corre\u00e7\u00e3o|quis\ dizer|ali\u00e1s
    )(?!\w)""",
    re.VERBOSE,
)
_FIRST_HINTS = frozenset(
    b"""
    sorry oops whoops wait hold correction typo scratch mean meant make nope no not bad mistake
    entschuldigung korrektur tippfehler meine meinte halt moment quatsch nein perd perdona
    correcci decir pardon d voulais non scusa correzione volevo anzi desculpa corre dizer ali
    """.split()
)
_TAKES_BACK = KeyedPatterns(
    r"""
    typo: typo(?!\ (?:in|on|of)\b)
    meant: i\ meant
    bad mistake: my\ (?:bad|mistake)
    scratch: scratch\ that
    forgot: forgot\ (?:the|to\ say)
    misspoke mistyped misread misremembered: i\ (?:misspoke|mistyped|misread|misremembered)
    faute: faute\ de\ frappe
    """,
    words="correction tippfehler errata",
)


class Statement(NamedTuple):
    """Statement of a turn: its text, None for a question or a text; whether some of it is otherwise now, or not so.

    `takes_back`: what its speaker has said just before is wrong, so it need not say again what it is about.
    """

    statement: str | None
    states_change: bool
    denies: bool
    takes_back: bool


UNSTATED: Final = Statement(None, states_change=False, denies=False, takes_back=False)


def _decode(hints: frozenset[bytes]) -> frozenset[str]:
    return frozenset(terms(" ".join(hint.decode() for hint in hints if len(hint) > _SHORT_HINT)))


# The terms by which a statement tells a change, and takes something back: none of what it is about.
CHANGE_TERMS: Final = _decode(_CHANGES.keys | _DENIALS.keys)
TAKING_BACK_TERMS: Final = _decode(_FIRST_HINTS | _TAKES_BACK.keys)


def describe_statement(content: str, *, role: Role | None, asking: float) -> Statement:
    """Describe what a turn states, once for all searches that find it; `asking` is its share of words in questions."""
    most = _MOST_IN_PASSAGE if role == "user" else _MOST_CHARACTERS
    if role not in {"user", "assistant"} or asking >= LEAST_QUESTION_SHARE or len(content) > most:
        return UNSTATED
    if not is_passage(content):
        return Statement(content, *describe_sentence(content))
    parts = [describe_sentence(part) for part in split_passage(content)]
    return Statement(content, *map(any, zip(*parts, strict=True)))


@lru_cache(maxsize=4_096)  # when a turn is found, and again where it is compared
def describe_sentence(sentence: str) -> tuple[bool, bool, bool]:
    """Describe a sentence: it states a change, denies something, takes something back."""
    folded = _fold_case(sentence)
    words = frozenset(split_ascii(folded))
    takes_back_first = not _FIRST_HINTS.isdisjoint(words) and _TAKES_BACK_FIRST.match(folded) is not None
    return (
        _CHANGES.is_in(folded, words),
        _DENIALS.is_in(folded, words),
        takes_back_first or _TAKES_BACK.is_in(folded, words),
    )


def is_passage(content: str) -> bool:
    """True for a turn that is long enough to state many things."""
    return len(content) > _MOST_CHARACTERS


def split_passage(content: str) -> list[str]:
    """Split a long turn into its sentences, without what they ask; a short one is one statement."""
    if not is_passage(content):
        return [content]
    return list(filter(None, map(strip_question, _SENTENCE_END.split(content.strip())))) or [content]


def _fold_case(content: str) -> str:
    """A text in small letters, each in its place: to a pattern that ignores case a dotless i is an i."""
    if content.isascii():
        return content.lower()
    return content.replace("\u0130", "i").lower().replace("\u0131", "i").replace("\u017f", "s")


def find_names(statement: str) -> frozenset[str]:
    """Find the terms of the names and numbers of a statement, in other languages also as those stem them.

    In German every noun is written like a name: those alone count that no article or the like stands before.
    """
    names = _NAME.findall(statement)
    language = detect_language(words(statement)) if names else ENGLISH
    if language == "german":
        found_at = [(match.start(), match[0]) for match in _NAME.finditer(statement)]
        names = [name for at, name in found_at if not _ARTICLE.search(statement, max(0, at - _LONGEST_ARTICLE), at)]
    found = frozenset([term for name in names for term in terms(name)])
    return found if language == ENGLISH else found | select_stems(terms(statement), names)


@lru_cache(maxsize=1_024)
def asks_for_present(query: str) -> bool:
    """True for a question about how things are: no word of it is about the past, "what was it again?" left aside.

    Nor does it ask for ideas, whose answer is of everything that was said.
    """
    again = _ENDS_WITH_AGAIN.search(query)
    if again is not None:
        line = query.rfind("\n", 0, again.start()) + 1
        query = f"{query[:line]}{_WAS.sub('is', query[line : again.start()])}{again[0]}"
    return _PAST.search(_WHAT.sub("", query, count=1)) is None and not asks_for_ideas(query)


def asks_for_ideas(query: str) -> bool:
    """True for a question for suggestions or advice, which what somebody likes, has and avoids answers."""
    return _ASKS_FOR_IDEAS.search(query) is not None


@lru_cache(maxsize=1_024)
def asks_for_event(query: str) -> bool:
    """True for a question about what has happened: nothing but its tense is about the past.

    What changes later does not answer it; what puts a statement right does.
    """
    return not asks_for_present(query) and asks_for_present(_EVENT.sub("is", query))


def find_denied(statement: str) -> frozenset[str]:
    """Find the terms that stand beside a denial: what is not so, or no more."""
    parts = [statement[slice(*match.span())] for match in _DENIED.finditer(_fold_case(statement))]
    return frozenset([term for part in parts for term in terms(part)])
