# ruff: noqa: RUF001  # characters that look like others are what the patterns are about
"""Questions: the share of a turn that asks, with a question mark or without. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from engrain.domain.text.analysis import has_unspaced
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_QUESTION_SHARE = 0.5
REQUESTING = 0.49  # of a request for a text: it may be evidence, and is no question
_MOST_UNMARKED_CHARACTERS = 160

# Latin, full-width, Arabic, Armenian, Greek and Ethiopic question marks.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u055e", "\u037e", "\u1367")
_CLOSING = "\"')]}\u2019\u201d\u00bb*_ \n\t"
_SENTENCE_END = lazy_pattern(r"(?<=[.!?\uff1f\u3002\u061f\u1362\u1367])\s+|(?<=[\uff1f\u3002])|\n+")
# What stands for a question mark: Greek writes a semicolon, which is none there, and some languages say a particle.
_SIGNS = lazy_pattern(
    r"""(?<=[\u0370-\u03ff\u1f00-\u1fff]);
    | (?P<particle>(?:です|ます|でした|ました|ません|でしょう|だろう|だった|なの|たの|るの|いの)か[なね]?|かしら|吗|嗎
    | (?:습|입|합|갑|됩|옵|봅|줍|십)니까|(?:은|는|인|한|던)가요|[하있없었았였겠되가사]나요|까요
    | (?:(?<!ผ้า)ไหม|มั้ย|หรือ(?:เปล่า|ยัง|ไม่))(?:ครับ|คะ|ค่ะ|นะ|จ๊ะ)?)(?:[.。]|(?=\s*$))""",
    re.VERBOSE | re.MULTILINE,
)
_MAY_SIGN = lazy_pattern(r"[;\u3040-\u30ff\u5417\u55ce\uac00-\ud7a3\u0e00-\u0e7f]")
# English: what a sentence states of somebody before it asks.
_STATED_FIRST = lazy_pattern(
    r"(?:(?:and|but|so|well|oh|hi|hello|hey|ok|okay|actually|by the way|btw)\W+)*"
    r"(?:i|we|my|our|he|she|they|his|her|their)(?:['\u2019]\w+)?\s[^?]{8,}?,\s+(?=(?:(?:and|but|so)\s+)?(?:is|are|was|do|does|did|can|could|will|would|should|have"
    r"|has|may|what|when|where|who|why|how|which|right|ok|okay|correct|isn['\u2019]t|aren['\u2019]t|doesn['\u2019]t)\b)",
    re.IGNORECASE,
)
# Asks nothing: "Marek is a carpenter, did I tell you?"
_TAG = lazy_pattern(r".{8,},\s(?:did i (?:ever )?(?:tell|mention)\b[^,?]{0,20}|you know|remember)\?\W*$", re.IGNORECASE)

_OPENING = r"(?:(?:and|but|so|well|oh|um+|hm+|hi|hello|hey|ok|okay|btw|also|please|sorry|quick\ question)\W+){0,3}"
_AUXILIARY = r"(?:is|are|was|were|am|do|does|did|can|could|should|would|will|may|must|have|has|had)(?:n['\u2019]?t)?\b"
_PRONOUN = "(?:i|you|he|she|it|we|they|there)"
_OWNER = "(?:my|our|his|her|their)"
_BOUND = rf"(?!\s(?:{_PRONOUN}|{_OWNER}|the|this|that|a|an)\b)"  # "what I want", "how the house looks": no question
_OPINION = "(?:matters?|bothers?|works|worked|helps|helped|counts|worries|worried|hurts|annoys|scares|surprised)"
# Begins as a question does. Rather too few, as what is taken for one states nothing: "When I was young", "What a day",
# "Which is why", "What matters is", "Will Byers came", "Do the dishes" and "Did my homework" ask nothing.
_UNMARKED = lazy_pattern(
    rf"""{_OPENING}(?:
    (?:what|who|where|when|how)(?:['\u2019]?s|['\u2019]re)\b(?!\s(?:up|more)\b)
    | what\s(?:happened|happens|else|about)\b | what(?!\s{_OPINION}\b){_BOUND}(?:\s\S+){{0,3}}?\s{_AUXILIARY}
    | which{_BOUND}(?!\s(?:is|was|are|were|means|meant)\b)\s(?:(?:\S+\s){{1,3}}?{_AUXILIARY}|\w+\s\w+ed\b)
    | how\s(?:many|much|long|often|old|big|far|late|tall|large)\b{_BOUND} | how\sto\b(?=[^:]*$)
    | (?:where|when|why|how)\s{_AUXILIARY} | who(?:m|se)?{_BOUND}\s\w+
    | (?:is|are)\s(?:{_PRONOUN}|{_OWNER}|the|this|that|any\w*)\b | did\s(?:{_PRONOUN}|any\w*|\w+['\u2019]s)\b
    | (?:was|were|can|could|should|would|may|must|am)\s(?:i|he|she|it|we|they|there)\b | does\s\w+
    | do\s(?:i|you|we|they|any\w*)\b | have\s(?:i|you|we|they)\b | has\s(?:any\w+|he|she|it|{_OWNER}|the)\b
    | (?:qu\u00e9\s(?:es|son|hace|dijo|hora|d\u00eda)|qui\u00e9n(?:es)?|a?d\u00f3nde|cu\u00e1ndo|cu\u00e1l(?:es)?)\b
    | (?:wann|woher|wohin|wo|wer|wem|wen|wessen|warum|wieso|weshalb|welche[rsnm]?|wie\s?(?:viele?|lange|oft)
      |cu\u00e1nt[oa]s?|combien|o\u00f9|(?:qu['\u2019])?est-ce|quell?es?\s(?:est|sont)|quel\sest|qui\sest|pourquoi
      |dov['\u2019]\u00e8|dove|chi|quant[ie]|qual['\u2019]?\s?\u00e8|quando\s(?:\u00e8|\u00e9)
      |onde|quem|quais|quant[oa]s|qual\s\u00e9
      |wie\s(?:hei(?:\u00df|ss)|alt|sp\u00e4t)\w*|was\s(?:macht|mag|isst|kostet)|wo(?:gegen|mit|f\u00fcr|zu|r\u00fcber|ran)
      |c\u00f3mo\sse\sllama|(?:a|en|de|con)\squ\u00e9|comment\s(?:s['\u2019]|se\b|va\b|t['\u2019])\S*|\u00e0\squoi
      |como\sse\schama|em\sque|come\ssi\schiama|che\s(?:lavoro|ora|giorno)
      |waar|wanneer|waarom|hoeveel|welke?|hvor(?:dan|n\u00e5r|for)?|hvem|vem|varf\u00f6r|vilke[nt]|hur\s(?:m\u00e5nga|mycket)
      |gdzie|kiedy|dlaczego|czemu|kto|kogo|komu|ile\s(?:kosz\w+|ma|mam|masz|lat)|czyj[ae]?|sk\u0105d|jak\ssi\u0119|jak[iae]\s\S+|czy\s\S+
      |kde|kdy|kdo|kolik|pro\u010d|unde|c\u00e2nd|c\u00e2te?|c\u00e2\u021bi|apa(?:kah)?|siapa|di\s?mana|kapan|kenapa|mengapa
      |bagaimana|berapa|nerede(?:n|yim)?|nereye|nas\u0131l|niye|ka\u00e7
      |где|куда|откуда|когда|почему|зачем|сколько|кто|кем|кого|кому|чей|чья|чьё|как(?:ой|ая|ое|ие|ого|\sзовут)|что\sтакое
      |πού|πότε|πώς|ποι(?:ος|α|ο)|πόσ(?:ο|η|α|οι|ες)
      |متى|أين|اين|كيف|لماذا|ماذا|كم|هل|ما\s(?:اسم|هو|هي|معنى)|מתי|איפה|איך|מדוע|האם|לאן|מאיפה|מה\s(?!ש)
      )(?![-\w])(?=[^,\u060c]*$)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# Ends as a question does in a language that asks at the end.
_ASKS_AT_END = lazy_pattern(
    r"""(?:
    (?:什么|什麼)(?:名字|时候|時候|工作|颜色|顏色|意思|地方)?|哪里|哪裡|哪儿|谁|誰|多少(?:钱|錢)?|几点|几岁|怎么样|为什么
    |何|どこ|いつ|だれ|いくら
    |(?:뭐|무엇|어디|언제|누구|얼마)(?:예요|에요|이에요|야|지|죠|입니까)?|어디에?\s\S+(?:요|어|아|지)
    |อะไร(?:บ้าง)?|ไหน|เมื่อไหร่|เมื่อไร|เท่าไหร่|เท่าไร|ใคร|ทำไม|อย่างไร|ยังไง|กี่\S{1,12}
    |\s(?:(?-i:m[ıü])|(?:adı|ismi|işi)\sne|nerede|nereye|nereden|nasıl|niçin|kaça?|ne\szaman)
    |\s(?:gì|đâu|nào|bao\snhiêu|phải\skhông|mấy\sgiờ)
    )(?:ครับ|คะ|ค่ะ|นะ)?$""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_END = 24
_ASKS_IN_HINDI = lazy_pattern(r"(?<!\S)(?:क्या|कौन|कहाँ|कहां|कब|क्यों|कैसे|कितन[ाेी]|किस(?:से|का|की|के|को|ने)?)(?!\S)")
# With one of these the same words say "nothing", "nowhere", "nobody".
_NOT = lazy_pattern(r"[没沒不]|ไม่|नहीं|\b(?:không|chưa)\s(?!$)")
# No such question begins otherwise: a tenth of the work for each turn, while its writer waits.
_BEGINNINGS = frozenset(
    form
    for beginning in (
        "ad al am an ap ar be bt bu ca ch co cu cz da di dl do d\u00f3 es gd ha he hi hm ho hu hv il is ja ka kd ke ki"
        " ko kt ma me mu na ne ni oh ok on o\u00f9 pl po qu sh si sk so um un ve vi wa we wh wi wo"
    ).split()
    for form in (beginning, beginning.capitalize(), beginning.upper(), beginning[0] + beginning[1].upper())
)
# Asks an assistant for a text or a change of code: what it is about is asked for, not told. "Make a note" and "Remind
# me" tell something, and so does "Add milk to the list".
_REQUEST = lazy_pattern(
    r"""(?:(?:and|but|so|now|ok|okay|hi|hello|hey|please)\W+){0,3}(?:
    (?:explain|translate|summari[sz]e|paraphrase|proofread|brainstorm|recommend|suggest|rewrite|rephrase)\b
    | (?:write|draft|compose|generate|create|design|outline|describe)\s(?:(?:me|us)\s)?(?:up\s)?(?:an?|some|the|\d+)\b
    | (?:give|tell|show|find|make|list|teach|help)\s(?:me|us)\b(?!\s(?:to|a\s(?:call|ring|break|note))\b)
    | (?:fix|debug|refactor|investigate|reproduce|implement)\s(?:the|this|that|these|our|my|an?)\b
    | add\s(?:\S+\s){1,6}?(?:to|in|for)\s(?:the|our)\s(?:\S+\s){0,3}?
      (?:handler|endpoint|module|class|function|method|page|form|component|api|cli|parser|build|pipeline|code|tests?)\b
    | (?:schreib|gib|zeig|nenn|erkl\u00e4r|empfiehl|mach|such)\w*\s(?:mir|uns)\b | \u00fcbersetze?\b
    | (?:\u00e9cris|donne|montre|explique|recommande|propose|fais|trouve)-(?:moi|nous)\b | traduis\b
    | (?:escr\u00edbe|trad\u00face|expl\u00edca|recomi\u00e9nda|da|mu\u00e9stra|b\u00fasca)(?:me|nos)\b
    | tradu(?:ce|za)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_REQUEST_BEGINNINGS = frozenset(
    form
    for beginning in (
        "ad an br bu b\u00fa co cr da de do dr em er es ex fa fi ge gi he hi im in li ma mo mu ne no ok ou pa pl pr re"
        " sc sh so su te tr wr ze \u00e9c \u00fcb"
    ).split()
    for form in (beginning, beginning.capitalize())
)
_ANY_BEGINNINGS = _BEGINNINGS | _REQUEST_BEGINNINGS
# "What do you know about Ana?" asks about Ana, and no more about knowing than "for a living" is a home.
_IDIOMS = lazy_pattern(
    r"\s+for a living\b|\s+again(?=\W*$)"
    r"|(?:\b(?:what|anything|everything|all|else|that|do|did|can|could|have|still|already)\s+)*\b(?:you|u)"
    r"(?:\s+(?:still|already))?\s+(?:know|remember|recall|tell me)(?:\s+(?:all|more|anything|everything))?"
    r"\s+(?:about|of)(?=\s)"
    r"|\btell me\s+(?:(?:all|more|something|anything|everything)\s+)?about(?=\s)",
    re.IGNORECASE,
)
# How a question asks where words are pairs of characters, or have no list of function words: each would count as much
# as what it asks about.
_ASKING = lazy_pattern(
    r"""(?:什么|什麼|么)(?:时候|時候)?|哪[里裡儿个個]?|谁|誰|怎[么麼]样?|多(?:少|大|久|遠|远|長|长)|[几幾][点點岁歲号號]了?|[为為]什[么麼]|[吗嗎呢]|[请請][问問]
    |何時|何|どこ|いつ|だれ|いくら|どう|なぜ|(?:です|ます|でした|ました|ません|でしょう)か|教えて|ください
    |(?:뭐|무엇|무슨|어디|언제|누구|얼마|어떻게)(?:예요|에요|이에요|입니까|였어요|야|에)?
    |อะไร|(?:ที่)?ไหน|เมื่อไหร่|เมื่อไร|เท่าไหร่|เท่าไร|ใคร|ทำไม|อย่างไร|ยังไง|ไหม|ครับ|คะ|ค่ะ
    |\b(?:gì|đâu|nào|khi|bao|nhiêu|tôi|của|là|ở)\b
    |\b(?:איפה|מה|מתי|איך|למה|כמה|מי|האם|אני|שלי|של|את|לי)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MOST_ASKING_CHARACTERS, _LEAST_TOLD = 800, 4
_TELLING = lazy_pattern(
    r"(?:(?:hi|hello|hey|so|and|but|well|ok|okay|oh|btw|by the way|also|actually|now|today|yesterday)\W+)*"
    r"(?:(?:i|we)(?:['\u2019]\w+)?|my|our|the|there)\s",
    re.IGNORECASE,
)
_WANTING = lazy_pattern(
    r"\b(?:i|we)(?:['\u2019]\w+|\s(?:am|was|are|were|would|have|do|can|could|just|really|still|only|also|not|cannot"
    r"|\w+n['\u2019]t))*\s(?:forg[eo]t\w*|wonder\w*|want\w*|need\w*|like\sto|look\w*\sfor|curious|ask\w*|hop\w+|think\w*"
    r"|guess|know|knew|remember|recall|find|understand|sure)\b"
    r"|\bquestions?\b|\b(?:tell|help|remind|explain|show)\s(?:me|us)\b",
    re.IGNORECASE,
)
_ENDS_OTHERWISE = (".", "!", ":", ";", ",", "\u2026", "\u3002", ")")


def strip_asking_words(query: str) -> str:
    """Strip a question of words that say how it asks, not what about.

    A question of such words alone keeps them.
    """
    stripped = _IDIOMS.sub(" ", query)
    if not stripped.isascii():
        left = _ASKING.sub(" ", unicodedata.normalize("NFC", stripped))
        return left if any(map(str.isalnum, left)) else stripped
    return stripped


def strip_question(sentence: str) -> str:
    """Strip a sentence of what it asks: what it states before it asks is left, nothing of one that only asks."""
    if not ends_with_question_mark(sentence):
        return sentence
    stated = _STATED_FIRST.match(sentence)
    return stated[0].rstrip() if stated else ""


def question_share(content: str) -> float:
    """Share of a turn's words, 0-1, in sentences that end with a question mark, or begin as one and have no mark.

    A question states little: of two turns with the same words the statement is more often the evidence. What a sentence
    states before it asks ("I live on the fourth floor, is that a problem?") is no question. Of a request for a text
    ("Write me a packing list.") it is `REQUESTING`.
    """
    is_ascii = content.isascii()
    if not is_ascii:
        content = _mark_questions(content)
    if "?" not in content and (is_ascii or not _has_question_mark(content)):
        if (content[:2] in _BEGINNINGS or not is_ascii) and _asks_unmarked(content):
            return 1.0
        return REQUESTING if content[:2] in _REQUEST_BEGINNINGS and _asks_for_text(content) else 0.0
    total = asked = 0
    is_unspaced = not is_ascii and has_unspaced(content)
    for sentence in _SENTENCE_END.split(content):
        count = len(sentence) if is_unspaced else len(sentence.split())
        total += count
        if sentence.rstrip(_CLOSING).endswith(_QUESTION_MARKS) and _TAG.match(sentence) is None:
            stated = _STATED_FIRST.match(sentence)
            asked += count - len(stated[0].split()) if stated else count
    return asked / total if total else 0.0


def question_shares(contents: Sequence[str]) -> list[float]:
    """`question_share` of each of many turns."""
    are_ascii = "".join(contents).isascii()
    return [
        question_share(content)
        if content[:2] in _ANY_BEGINNINGS or "?" in content or not (are_ascii or content.isascii())
        else 0.0
        for content in contents
    ]


def is_question(content: str) -> bool:
    """True if at least half of a turn's words stand in questions."""
    if content[:2] not in _BEGINNINGS and "?" not in content and content.isascii():  # as most are
        return False
    return question_share(content) >= LEAST_QUESTION_SHARE


def states_beside_asking(content: str) -> bool:
    """True for a turn that tells something before or after it asks: "We bought a Rivian. How do I charge it at night?".

    Something of its speaker, or of a thing, in a sentence of four words or more. Whoever says what they want to know
    tells nothing. In English.
    """
    if len(content) > _MOST_ASKING_CHARACTERS:
        return False
    stated = (strip_question(sentence) for sentence in split_sentences(content))
    return any(_tells_something(sentence) for sentence in stated if len(sentence.split()) >= _LEAST_TOLD)


def _tells_something(sentence: str) -> bool:
    return _TELLING.match(sentence) is not None and _WANTING.search(sentence) is None


def split_sentences(content: str) -> list[str]:
    """Split a text into its sentences and lines."""
    return [sentence for sentence in _SENTENCE_END.split(content) if sentence]


def ends_with_question_mark(text: str) -> bool:
    """True if the last sentence of a text ends with a question mark, or what stands for one in its language."""
    marked = text if text.isascii() else _mark_questions(text)
    return marked.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def _mark_questions(text: str) -> str:
    """Compose a text's letters, and put a question mark in place of what stands for one in its language."""
    text = unicodedata.normalize("NFC", text)
    return text if _MAY_SIGN.search(text) is None else _SIGNS.sub("\\g<particle>\uff1f", text)


def _has_question_mark(content: str) -> bool:
    """True if there is a question mark: most turns have none, and every turn is checked while its writer waits."""
    for mark in _QUESTION_MARKS:  # noqa: SIM110  # a generator for any() takes three times as long
        if mark in content:
            return True
    return False


def _asks_for_text(content: str) -> bool:
    """True for one short sentence that asks an assistant for a text: "Write me a packing list for Edinburgh."."""
    is_short = len(content) <= _MOST_UNMARKED_CHARACTERS
    return is_short and _REQUEST.match(content) is not None and _SENTENCE_END.search(content.rstrip()) is None


def _asks_unmarked(content: str) -> bool:
    """True for a short line without any mark at its end that begins as a question does: "whats my cats name"."""
    line = content.rstrip()
    if len(line) > _MOST_UNMARKED_CHARACTERS or line.endswith(_ENDS_OTHERWISE) or "\n" in line:
        return False
    asks = _UNMARKED.match(line) is not None or (not line.isascii() and _asks_elsewhere(line))
    return asks and _SENTENCE_END.search(line) is None


def _asks_elsewhere(line: str) -> bool:
    """True for a line that has its question word at the end, or anywhere in Hindi."""
    asks = _ASKS_AT_END.search(line[-_LONGEST_END:]) or _ASKS_IN_HINDI.search(line)
    return asks is not None and _NOT.search(line) is None
