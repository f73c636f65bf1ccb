"""Router: the destination of an input, by its role and its words alone. Pure; no model is asked.

Statements of oneself, questions and requests to forget are read in the languages of `phrases`, all else in English.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.memories.predicates import predicate_key
from engrain.domain.memories.routing import Routing
from engrain.domain.text.analysis import terms, words
from engrain.domain.text.dialogue.questions import ends_with_question_mark, is_question
from engrain.domain.text.languages import ENGLISH, MONTHS, WEEKDAYS, list_names, stop_words
from engrain.domain.text.small_talk import is_small_talk
from engrain.routing.patterns import MOST_CHARACTERS, Patterns, compile_phrases, unify
from engrain.routing.phrases import DAYS, PASSING, PHRASES
from engrain.routing.removals import parse_removal
from engrain.routing.tool_names import names_tool

if TYPE_CHECKING:
    from engrain.domain.records import Role

# A relation of the speaker ("my sister") is theirs: two speakers have two of them.
_KIN = re.compile(
    r"(?:my|our|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|(?:il |la )?mi[oa]|(?:o |a )?(?:meu|minha)|mijn|onze?) "
    r"(?P<kin>.+)",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"(?P<subject>(?:the [a-z]+(?: [a-z]+)?)|[^\W\d_][\w.'-]*(?: [A-Z][\w.'-]*){0,3}) "
    r"(?P<predicate>lives in|lives at|works at|works for|works as|is called|is) (?P<content>.+)",
    re.DOTALL,
)
_ARTICLES: Final = frozenset("the den der die das la le el los las il lo o a os as a an de het een".split())
# Neither "Call me tomorrow" nor "CALL ME LATER".
_NICKNAME = re.compile(
    r"(?!(?:Tomorrow|Later|Back|When|If|Crazy|Maybe|Soon)\b)[A-Z](?:\w*[a-z]\w*|[A-Z]?)(?: [A-Z]\w*)?"
)
# Teams and rooms that somebody moves to, within a place.
_NO_HOME = frozenset(
    "team room gate seat table desk level phase stage plan version slot group class chapter marketing sales finance hr"
    " engineering operations legal support accounting product design research management it".split()
)
# What somebody says of a talk, and how they work: of these there is another the next day.
_PASSING_THINGS = frozenset(
    "problem question issue point idea guess plan concern feeling understanding suggestion answer thought fear hope"
    " impression mistake bad turn opinion worry request".split()
)
_NO_WORK = frozenset(
    "little much hard long usual before always planned boring fun great awful stressful tough exhausting easy over done"
    " important interesting demanding ok okay fine good bad nice secure safe".split()
)
# Neither Marseille nor the Quinta do Lago nor Friday Harbor is a day.
_DAY = re.compile(rf"{DAYS}\b(?! d[aeo]s? | (?-i:[A-Z]))", re.IGNORECASE)
_WEEKDAY = re.compile("|".join(list_names(WEEKDAYS)), re.IGNORECASE)
_NO_PLACE: Final = frozenset(
    "hope fear peace sin harmony exile myself night nights home casa free it that this you".split()
)
# Somebody's state, of which there is another tomorrow: "my phone number is broken", "my code is not working".
_STATE = re.compile(
    r"(?:not|no longer|never|nicht|niet|no|pas|non|não|so|too|very|really|quite|still|already|\w+ing)\b", re.IGNORECASE
)
# Values of all other things have a capital or a digit in them.
_IN_SMALL_LETTERS: Final = frozenset(
    "works as;diet;gender;pronouns;marital status;language;test command;default branch;status;priority;hobby".split(";")
)
_PEOPLE: Final = frozenset(
    "mother;father;spouse;partner;manager;doctor;dentist;sister;brother;son;daughter;child;friend;cat;dog;pet".split(
        ";"
    )
)
_NAMES_SOMEBODY = re.compile(r"\b[a-z]\w* [A-Z][a-z]+$")  # "my assistant Tola"
_PASSWORD = re.compile(r"\b(?:password|passphrase|passcode)$", re.IGNORECASE)
_MOVES_ON = re.compile(r"\b(?:and|then|und|dann|y|luego|et|puis|e|poi|depois) (?:back )?(?:to|nach|a|à|para|in)\b")
_TELLING = re.compile(r"[^\W_a-zß-öø-ÿ]|[`'\"/@_]")
_PASSES = re.compile(rf"\b{PASSING}\b", re.IGNORECASE)
_NOTE = re.compile(
    r"(?:please )?(?:note|save) (?:as )?(?P<key>[\w./-]+(?::[\w./-]+)*)(?:: | = )(?P<content>.+)",
    re.IGNORECASE | re.DOTALL,
)
_RULE = re.compile(
    r"(?:rule: (?P<content>.+)|(?:please )?(?:(?:you (?:should|must|have to|need to) )?(?:always|never)"
    r"|from now on(?!,? (?:i|we) (?:live|work)\b)|whenever|make sure (?:to|that)|every time|don't ever"
    r"|(?:don't|do not|stop) call(?:ing)? (?:me|us)(?= (?!\w+day\b)(?-i:[A-Z]))"
    r"|next time(?=,(?! (?:i|we|you|he|she|they|it|there)\b)))\b.+)",
    re.IGNORECASE | re.DOTALL,
)
# "When I ask for code, use TypeScript", but not "If the parcel comes, call me".
_CONDITION = re.compile(
    r"(?:(?:when|if) (?:i|you|we|any\w*|some(?:thing|body|one)|an?|tests?"
    r"|the (?:build|tests?|ci|pipeline|linter|user|customer))"
    r"|before (?:you )?(?:commit|push|merg|deploy|delet|edit|chang|send|answer|book|order|buy|writ)\w*)\b[^?]{,160}?, "
    r"(?:(?:please|then|just|always|never|do not|don't) )*(?:use|ask|answer|reply|respond|write|run|rerun|check|add"
    r"|show|include|start|stop|make|keep|format|put|read|restart|try|avoid|translate|summari[sz]e|update|commit|push"
    r"|create|warn|confirm|verify|prefer|explain|skip|log|switch)\b(?! of\b)[^?]+",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION = re.compile(
    r"(?:who|whom|whose|what|what's|when|where|where's|why|how|which|do you (?:remember|know|recall)|recall|tell me)\b",
    re.IGNORECASE,
)
_SCRATCH = re.compile(r"(?:thinking|scratch|scratchpad|plan|todo): ", re.IGNORECASE)

_MONTH: Final = f"(?:{MONTHS[ENGLISH].replace(' ', '|')})"
_BELIEF = re.compile(
    r"\bdid (?:you|we) (?:believe|think|know|assume)\b|\b(?:was|were) (?:believed|known|assumed)\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"\b(?:about|of) (?P<topic>[^?]+)", re.IGNORECASE)
_WHEN = re.compile(
    r",?\s*\b(?:(?:in|on|at|by|before|until|back in|during)\s+)?"
    r"(?:(?:last|this|the previous) (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|yesterday"
    r"|(?:a|an|one|two|three|four|five|six|\d+) (?:day|week|month|year)s? ago"
    rf"|(?:in|on) (?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? \d{{4}})?"
    r"|(?:in|on) \d{4}(?:-\d\d(?:-\d\d)?)?)\b",
    re.IGNORECASE,
)


def route(content: str, *, role: Role = "user", speaker: str | None = None) -> Routing:
    """The destination of cleaned text, the first that holds of working, note, rule, forget, past, recall and fact.

    What is none of them is an episode: what happened, word for word. A fact in the first person is about `speaker`, or
    else about "user"; only a user's or a system's words become rules, facts and notes, or forget something.
    """
    if role == "tool":
        return Routing(route="working", content=content, reasons=("a tool's result is for the work at hand",))
    if _SCRATCH.match(content):
        return Routing(route="working", content=content, reasons=("it begins as a thought or a plan does",))
    if role == "assistant":
        return _episode(content, "what the assistant said is what happened")
    return _explicit(content) or parse_removal(content) or _question(content) or _statement(content, speaker or role)


def _explicit(content: str) -> Routing | None:
    """Routes a text that names its destination."""
    note = _NOTE.fullmatch(content)
    if note:
        reason = f"it asks for a note under the key {note['key']}"
        return Routing(route="note", content=note["content"], key=note["key"], reasons=(reason,))
    rule = _RULE.fullmatch(content)
    if rule and rule["content"]:
        return Routing(route="rule", content=rule["content"], reasons=("it says that it is a rule",))
    return None


def _question(content: str) -> Routing | None:
    is_marked = ends_with_question_mark(content)
    if not is_marked and _CONDITION.fullmatch(content):
        return None
    if not is_marked and not _QUESTION.match(content) and not ("?" not in content and is_question(content)):
        return None
    believed = _BELIEF.search(content) if len(content) <= MOST_CHARACTERS else None
    if believed and _WHEN.search(content):
        reasons = ("it asks what was believed at another time",)
        return Routing(route="past", content=content, topic=_find_topic(content, believed), reasons=reasons)
    reason = "it ends with a question mark" if is_marked else "it begins as a question does"
    return Routing(route="recall", content=content, reasons=(reason,))


def _find_topic(content: str, believed: re.Match[str]) -> str:
    """Find the topic of a question about a belief: behind "about", or all of it but for the belief and the time."""
    topic = _TOPIC.search(content)
    left = topic["topic"] if topic else f"{content[: believed.start()]} {content[believed.end() :]}"
    plain = " ".join(_WHEN.sub(" ", left).split()).strip(" ,?")
    return plain if terms(plain) else ""


def _statement(content: str, speaker: str) -> Routing:
    is_rule = _RULE.fullmatch(content) or (_CONDITION.fullmatch(content) and not _PASSES.search(content))
    if is_rule and not is_small_talk(content):
        return Routing(route="rule", content=content, reasons=("it says how to go about something from now on",))
    if len(content) > MOST_CHARACTERS:
        return _episode(content, "it is too long for one statement: what was said is kept word for word")
    plain = unify(content).rstrip(" .!")
    is_requested = False
    for language, phrases in zip(PHRASES, compile_phrases(), strict=True):
        request = phrases.requests.fullmatch(plain)
        is_requested |= request is not None
        start = request.start("value") if request else 0
        opening = phrases.openings.match(plain, start)
        corrects = request is not None or phrases.corrections.match(plain) is not None
        start = opening.end() if opening else start
        sentence = _Sentence(content, plain, start, corrects=corrects, speaker=speaker, language=language)
        found = _parse_own(sentence, phrases) or _parse_other(sentence, phrases, is_requested=request is not None)
        if found:
            return found
    if is_requested:
        return _episode(content, "it asks to be remembered, and is no fact that one place could hold")
    return _episode(content, "it is none of the others: what was said is kept word for word")


class _Sentence(NamedTuple):
    """Sentence as it is parsed: `text` and the same with one kind of apostrophe, from `start` on, and who says it."""

    text: str
    plain: str
    start: int
    corrects: bool  # or asks to be remembered
    speaker: str
    language: str

    def span_of_password(self, match: re.Match[str]) -> tuple[int, int]:
        """The span of a password in the text: an exclamation mark at the end of a single word is a part of it."""
        start, end = match.span("value")
        is_word = not any(char.isspace() for char in match["value"])
        while is_word and self.text[end : end + 1] == "!":
            end += 1
        return start, end

    def fact(
        self, about: tuple[str, str], value: tuple[int, int], end: re.Pattern[str], *, moves: bool = False
    ) -> Routing | None:
        """The route of a fact about a subject by a predicate, its value in this span of the text, up to its end.

        It is a part of the words where these go on, of a move, which is something that happened, too, and of words in
        another language, which are asked for in that one.
        """
        subject, predicate = about
        cut = end.search(self.plain, *value)
        whole = self.text[value[0] : value[1]]
        content = (whole if cut is None else self.text[value[0] : cut.start()]).strip(" ,")
        says_nothing = content.islower() and not terms(content)  # of "my job is to not do anything" is left a "to"
        if not content or (cut and (_MOVES_ON.search(cut[0]) or says_nothing)):
            return None
        if moves:
            reason = "somebody says who moved, and where to"
        elif subject == self.speaker:
            reason = "somebody says of themselves what there is one of"
        else:
            reason = "it asks to be remembered, or puts right, and says what is true of whom"
        return Routing(
            route="fact",
            content=content,
            subject=subject,
            predicate=predicate,
            is_part=moves or self.language != ENGLISH or len(content) < len(whole.strip(" ,")),
            reasons=(reason,),
        )


def _parse_own(sentence: _Sentence, phrases: Patterns) -> Routing | None:
    """Routes what somebody says of themselves; None for what one place could not hold."""
    move = phrases.moves.fullmatch(sentence.plain, sentence.start)
    if move:
        fact = sentence.fact((sentence.speaker, "live in"), move.span("value"), phrases.place_end, moves=True)
        return fact if fact and _names_somewhere(fact.content) and not names_tool(fact.content) else None
    for predicate, pattern in phrases.facts:
        match = pattern.fullmatch(sentence.plain, sentence.start)
        if match:
            end = phrases.place_end if predicate == "live in" else phrases.value_end
            fact = sentence.fact((sentence.speaker, predicate), match.span("value"), end)
            return fact if fact and _is_own_value(predicate, fact.content) else None
    for pattern in phrases.things:
        match = pattern.fullmatch(sentence.plain, sentence.start)
        if match:
            thing = match["thing"].lower()
            if (thing in _PASSING_THINGS and not sentence.corrects) or _NAMES_SOMEBODY.search(match["thing"]):
                return None
            predicate = phrases.predicates.get(thing, "" if phrases.predicates else thing)
            value = sentence.span_of_password(match) if _PASSWORD.search(predicate) else match.span("value")
            fact = sentence.fact((sentence.speaker, predicate), value, phrases.value_end)
            if fact and predicate and (sentence.corrects or _tells(predicate, fact.content)):
                return None if _STATE.match(fact.content) or _PASSES.search(fact.content) else fact
    return None


def _parse_other(sentence: _Sentence, phrases: Patterns, *, is_requested: bool) -> Routing | None:
    """Routes what is said of another: a move, or what is asked to be remembered or put right."""
    move = phrases.moves_of_others.fullmatch(sentence.plain, sentence.start)
    if move:
        subject = _find_whom(move["subject"], sentence, phrases)
        fact = (
            sentence.fact((subject, "moved to"), move.span("value"), phrases.place_end, moves=True) if subject else None
        )
        return fact if fact and _names_somewhere(fact.content) and not names_tool(fact.content) else None
    other = _OF_ANOTHER.fullmatch(sentence.plain, sentence.start) if sentence.corrects else None
    if other is None or (other["predicate"] == "is" and not is_requested):
        return None
    return sentence.fact((other["subject"], other["predicate"].lower()), other.span("content"), phrases.value_end)


def _find_whom(subject: str, sentence: _Sentence, phrases: Patterns) -> str | None:
    """The name of whom a statement is about; None for a pronoun, and for what has no name."""
    kin = _KIN.fullmatch(subject)
    if kin:
        return f"{sentence.speaker}'s {phrases.predicates.get(kin['kin'].lower(), kin['kin'])}"
    first = subject.split(maxsplit=1)[0]
    is_name = all(word[:1].isupper() for word in subject.split()) and bool(terms(first))
    is_pronoun = any(first.lower() in stop_words(language) for language in {ENGLISH, sentence.language})
    return subject if is_name and not is_pronoun else None


def _names_somewhere(value: str) -> bool:
    """True for what has a name: a capital, perhaps behind an article, and is no day."""
    first, _, rest = value.partition(" ")
    named = rest if first.lower() in _ARTICLES and rest else value
    is_home = named.partition(" ")[0].lower() not in _NO_HOME
    return named[:1].isupper() and is_home and _DAY.match(named) is None


def _is_own_value(predicate: str, value: str) -> bool:
    first = words(value)[:1]
    if not first or first[0] in _NO_PLACE or (predicate == "work as" and first[0] in _NO_WORK):
        return False
    if predicate == "nickname":
        return _NICKNAME.fullmatch(value) is not None and _WEEKDAY.fullmatch(value) is None
    if predicate in {"live in", "work at"}:
        return _names_somewhere(value) or (value.islower() and " " not in value)
    return predicate != "name" or value[:1].isupper() or value.islower()


def _tells(predicate: str, value: str) -> bool:
    """True for a value that somebody may want to know later, and not of a state."""
    key = predicate_key(predicate)
    if key == "works as" and value.lower() in _NO_WORK:
        return False
    if key in _PEOPLE:
        return value[:1].isupper()
    return key in _IN_SMALL_LETTERS or key.startswith("favourite") or _TELLING.search(value) is not None


def _episode(content: str, reason: str) -> Routing:
    return Routing(route="episode", content=content, reasons=(reason,))
