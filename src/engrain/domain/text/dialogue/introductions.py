# ruff: noqa: RUF001  # Russian letters look like Latin ones
"""Questions of users for, and their statements of, their name, age, work and employer. Pure.

"What's my name?" is answered by "Hi, I'm Nora", which has no word of it, and not by the name of a restaurant. Names are
known in the languages of most users, the rest in English, German, Spanish, French and a little of others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from engrain.domain.text.patterns import join_phrases, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_QUESTION: Final = 100


def _join(words: str) -> str:
    return "|".join(words.split())


# Where a name may stand: "I'm Dutch", "I'm Ana's sister" and "Hi, I'm tired" name nobody.
_CAPITALIZED = _join(
    "Dutch German French Belgian British English Irish Scottish Welsh American Canadian Australian Spanish Italian"
    " Portuguese Polish Russian Ukrainian Turkish Greek Swedish Norwegian Danish Finnish Chinese Japanese Korean Indian"
    " Mexican Brazilian Swiss Austrian Czech Hungarian Romanian African Asian European Jewish Muslim Catholic"
    " Protestant Hindu Buddhist Ok OK I No Not Nothing Right Over Still Back Look Good So Wait Yes What Who Nobody"
    " Everyone Everything Anyone Is Are From In Come New"
)
_AFTER_HELLO = _join(
    r"back here there new fine good ok okay great well not so very really just in on at off home sick ill sorry sad"
    r" happy late lost stuck ready done tired bored alone free busy sure curious hungry from with your the an? also"
    r" still too vegan vegetarian \w+ing \w+ed"
)
_NO_NICKNAME = _join("back later tomorrow when if at on an? the in out up crazy old about this by")
_NO_WORK = _join(
    r"vegetarian pescatarian flexitarian mother father brother sister daughter grand\w+ step\w+ beginner lover sleeper"
    r" riser eater drinker smoker user customer member owner speaker runner swimmer hiker walker hugger newcomer"
    r" foreigner non\w+ believer subscriber fighter survivor minor bit lot little number sucker follower helper bird"
    r" introvert patient parent expectant different elephant \w*client person"
)
_OCCUPATIONS = _join(
    r"\w+(?:er|or|ist|ian|eer|ant|wright|smith|man|woman|ess) nurse chef cook clerk pilot architect mechanic vet coach"
    r" barista CEO CTO CFO COO PM DJ dev sysadmin student president agent intern freelance\w* guide guard judge"
    r" diplomat spy priest nun monk PhD postdoc trainee apprentice midwife model physician temp paramedic nanny"
    r" farmhand aide athlete astronaut medic cop detective analyst lead admin secretary executive representative rep"
    r" associate paralegal EMT RN GP SRE DBA"
)
_UNITS = _join(
    r"% ° percent degrees kg km cm g m lbs? pounds kilo\w* miles? min(?:ute)?s? hours? days? weeks? months? times?"
    r" pages? euros? dollars? th st nd rd am pm out into in points? steps? met(?:re|er)s? feet"
)
_GERMAN_NAMES = _join(
    "Peter Alexander Oliver Rainer Reiner Werner Walter Dieter Dietmar Günter Günther Xaver Esther Jennifer Heidemarie"
    " Vincent Laurent Viktor Victor Igor Theodor Gregor Ester Rüdiger Volker Holger"
)
_NO_BERUF = _join(
    r"Deutscher Österreicher\w* Schweizer\w* Niederländer\w* Italiener\w* Vegetarier\w* Veganer\w* Allergiker\w*"
    r" Diabetiker\w* Anfänger\w* Mutter Vater Bruder Schwester \w*raucher\w* Witwer Christ Moslem Kater"
)
_TENS, _ONES = (
    _join("twenty thirty forty fifty sixty seventy eighty ninety"),
    "one|two|three|four|five|six|seven|eight|nine",
)
_PARTS = {
    "<am>": r"\bI(?:['\u2019]?m| am| was| have been|['\u2019]ve been)"
    r"(?: (?:now|only|just|already|still|also|actually|currently|really|about|almost|nearly|and))*",
    "<have>": r"\bI(?:['\u2019]?ve| have|['\u2019]?m| am)?(?: (?:been|now|also|currently|still|mostly|just|recently))*",
    "<my name>": r"my (?:own |first |full |real |last |nick ?)?name",
    "<is>": r"(?:['\u2019]?s| is| was)",
    "<user>": r"\buser(?:['\u2019]s)?",
    # Not "die Frau des Nutzers", nor "la esposa de la usuaria".
    "<the user>": r"(?<!\bde )(?<!\bvan )\b(?:d(?:er|ie) (?:(?:be)?nutzer|anwender)(?:in)?|(?:el|la) usuari[oa]"
    r"|l['\u2019](?:utente|utilisat(?:eur|rice))|[oa] (?:usuári[oa]|utilizadora?)|de gebruiker)",
    "<works>": "(?:arbeitet|trabaja|travaille|lavora|trabalha|werkt|.{,40}(?:job|trabajo|emploi|lavoro|emprego|baan))",
    "<hello>": r"(?i:hi|hello|hey|hiya|good (?:morning|evening|afternoon|day))(?: (?i:there|all|everyone|assistant))?",
    "<name>": rf"(?!(?:{_CAPITALIZED})\b)[A-ZÀ-ÞА-ЯŁŚŞ][^\W\d_A-Z]+\b(?!['\u2019]s)",
    "<im>": r"^(?!.*\b(?i:ich|wir|und|der|die|das|ist|war|wird|mein|unser)\b)(?:.*\W)?[Ii]m",  # "im Juli" is German
    "<beruf>": rf"(?!(?:{_GERMAN_NAMES}|{_NO_BERUF})\b)(?-i:[A-ZÄÖÜ])\w*(?:(?:er|ist|ent|eur|or)(?:in)?|mann|frau)\b"
    r"|(?-i:\w*[ÄA]rzt(?:in)?|K[oö]ch(?:in)?|Azubi)\b",
    "<kein name>": rf"(?:{_NO_BERUF}|Mama|Papa|Oma|Opa|Single|Neu\w*|Deutsche)\b",
    "<lower>": rf"(?!(?:{_AFTER_HELLO})\b)\w+",
    "<nickname>": rf"(?!(?:{_NO_NICKNAME})\b)\w",
    "<age>": rf"(?:\d\d|1[01]\d|(?:thir|four|fif|six|seven|nine)teen|eighteen|(?:{_TENS})(?:[ -](?:{_ONES}))?)\b",
    "<years>": rf"(?! ?(?:{_UNITS})(?!\w))(?![.,:]?\d)",
    "<when>": r"(?: now| freelance| (?:part|full)[- ]time| (?:on )?(?:\w+day|weekend|evening|morning)s?)*",
    # "I'm Kofi, 34, a nurse", "Ich bin Miriam, Lehrerin".
    "<called>": r"(?-i:[A-ZÀ-Þ])[\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?,(?: (?:de )?\d\d(?: años| ans)?,)? "
    r"(?:und |and |y |et )?",
    "<occupation>": rf"(?:(?!(?:my|your)\b)\w+ )?(?!(?:{_NO_WORK})\b)(?:{_OCCUPATIONS})\b",
    "<said>": r"(?=\W*$|[.,!;]| (?:at|in|for|from|by|and|with)\b)",
    "<nowadays>": r"(?: (?:now|again|these days|at the moment|at present|right now|currently|nowadays))?",
    "<work>": rf"(?:an?|the) (?!(?:[\w-]+ ){{,3}}(?:{_NO_WORK})\b)(?:[\w-]+ ){{,5}}?(?:{_OCCUPATIONS})\b",
    "<job>": r"(?:got|found|took|started|landed|accepted) (?:an?|the|my|a new|my new) (?:[\w-]+ )?job\b",
}


def _read(phrases: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return lazy_pattern(join_phrases(phrases, _PARTS), flags | re.MULTILINE)


# Each a question, and what somebody says who answers it of themselves.
_NAME = (
    r"""
    \bwhat<is> <my name>\b
    \b(?:tell me|know|remember|recall|forget|forgot|forgotten|say) <my name>\b
    \bwhat (?:am i called|(?:do|should|can|did) (?:you|i|they) call me)\b
    \bwie (?:hei(?:ß|ss)e ich|ist mein name)\b
    \bc[óo]mo me llamo\b|\bcu[áa]l es mi nombre\b
    \bcomment (?:est-ce que )?je m['\u2019]appelle\b|\bquel est mon (?:pré)?nom\b
    \bcome mi chiamo\b|\bqual è il mio nome\b|\bqual é o meu nome\b|\bcomo (?:eu )?me chamo\b
    \bhoe heet ik\b|\bwat is mijn naam\b|\bjak (?:mam na imię|się nazywam)\b|\b(?:benim )?adım ne\b
    \bкак меня зовут\b|\bкак мо[её] имя\b|\bяк мене звати\b|\btôi tên (?:là )?gì\b|\btên tôi là gì\b
    我(?:的名字)?(?:叫|是)什[么麼]|私の名前(?:は|を)|(?:제|내) 이름(?:이|은)
    ما (?:هو )?اسمي|मेरा नाम क्या|ชื่ออะไร|איך קוראים לי|מה השם שלי
    """,
    r"""
    (?i:\bmy (?:(?:first|last|full|real|given|middle|preferred) |nick)?name<is>\b)
    (?i:(?:^|\W)name(?:['\u2019]s|:))
    (?i:\b(?:call me|i go by|i(?:['\u2019]?m| am) called|(?:people|friends|everyone|they) calls? me) <nickname>)
    \b(?:[Ii](?:['\u2019]m| am)|<im>) <name>(?: <name>)*(?=\W*$|[.,!;:\u2013-]| (?:and|from|here|by)\b)
    ^<hello>\W+(?i:i(?:['\u2019]?m| am) <lower>(?=\W*$|[.,!;:\u2013-]| and\b))
    ^<hello>\W+(?:[Tt]his is|[Ii]t['\u2019]?s) <name>|(?:[Tt]his is|[Ii]t['\u2019]?s) <name> here\b
    ^(?:<hello>\W+)?<name> here\b
    (?i:\bich hei(?:ß|ss)e\b|\bmein (?:vor|nach|spitz)?name\b|\bnenn(?:t|en sie)? mich\b)
    \b[Ii]ch bin (?:(?:der|die) )?(?!<beruf>|<kein name>)<name>(?=\W*$|[.,!;:\u2013-]| (?:und|aus|hier)\b)
    ^(?:(?i:hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend))\W+)?(?:[Hh]ier ist |[Ii]ch bin'?s,? )<name>
    (?i:\bme llamo\b|\bmi (?:nombre|apellido)\b|\bll[áa]mame\b)|\b[Ss]o[yu] (?:[oa] )?<name>
    (?i:\bje m['\u2019]appelle\b|\bmon (?:pré)?nom\b|\bappelle[sz]?-moi\b)|\b[Mm]oi,? c['\u2019]est <name>
    \b[Jj]e suis (?!(?:Français|Belge|Suisse|Allemand|Canadien)\w*)<name>(?=\W*$|[.,!;:\u2013-]| (?:et|de)\b)
    \b[Ss]ono <name>(?=\W*$|[.,!;:\u2013-]| (?:e|di)\b)|\b[Ii]k ben (?!Nederland|Belg)<name>
    (?i:\bmi chiamo\b|\bil mio nome\b|\bmeu nome\b|\bme chamo\b|\bik heet\b|\bmijn naam\b)
    (?i:\bmam na imię\b|\bnazywam się\b|\badım\b|\bменя зовут\b|\bмо[её] имя\b|\bмене звати\b|\btôi tên là\b)
    我(?:的名字|的名叫|叫|姓)|叫我|私の名前|私は\S{1,8}(?:です|と申します)|と申します|と呼んで
    제 이름|저는 \S{2,8}(?:입니다|이에요|예요)|(?<!\w)اسمي|(?<!\w)मेरा नाम|ผมชื่อ|ฉันชื่อ|קוראים לי|השם שלי
    <user> (?:name|full name|first name|is called|goes by)\b
    (?i:<the user> (?:hei(?:ß|ss)t|name|se llama|s['\u2019]appelle|si chiama|(?:se )?chama|heet)\b)
    """,
)
_AGE = (
    r"""
    \bhow old (?:am i|i am|was i|do i)\b|\bwhat<is> my age\b|\b(?:know|remember|guess) my age\b
    \bwie alt bin ich\b|\bquel âge ai-je\b|\bquel est mon âge\b
    \bqu[ée] edad tengo\b|\bquanti anni ho\b|\bque idade (?:eu )?tenho\b|\bhoe oud ben ik\b
    \b(?:qual è la mia età|qual é a minha idade|wat is mijn leeftijd)\b
    \bcu[áa]ntos años tengo\b|\bquantos anos (?:eu )?tenho\b|\bсколько мне лет\b|我(?:今年)?(?:几岁|多大)
    """,
    r"""
    <am> (?:an? )?<age><years>|<am> \w+(?: \w+)?, <age>(?=[,.]| and\b| years\b)
    <have> turn(?:ed|ing)? <age>|^(?:just )?turned <age>|\bI(?:['\u2019]ll| will) (?:turn|be) <age><years>
    \bI was born (?:on\b|in (?:\w+,? )?(?:19|20)\d\d)|\bmy \d\d(?:st|nd|rd|th) birthday\b|\bmy age\b
    ^<age>,? (?:years old|[mf]\b)|\bhere[,.] <age>(?=[,.]|$| and\b)
    \bich bin (?:jetzt |schon )?(?:\d\d\b(?! (?:minuten|stunden|tage|kilo))|\w+ jahre alt)|\bich wurde .{,30}geboren
    \bich bin (?:(?:der|die) )?(?-i:[A-ZÄÖÜ])\w+,? \d\d\b(?=[,.]|$| (?:und|aus|jahre)\b)
    \bje suis (?-i:[A-ZÀ-Þ])[\w-]+,? \d\d ans\b|\bho .{2,25} anni\b
    \bik ben (?:(?-i:[A-Z])[\w-]+, ?)?\d\d\b(?=[,.]|$| (?:en|jaar)\b)
    \bj['\u2019]ai .{2,20} ans\b|\btengo .{2,25} años\b|\btenho .{2,25} anos\b|\bмне \d\d|我(?:今年)?\S{1,4}岁
    <the user> (?:(?:ist|is) \d\d|tiene \d\d años|a \d\d ans|ha \d\d anni|tem \d\d anos)\b
    <user> (?:age|is \d\d|born)\b|<user> (?:birth\w*|date of birth)\b.{,20}(?:19|20)\d\d
    """,
)
_WORK = (
    r"""
    \bwhat<is> my (?:current |new |day )?(?:job(?: title)?|profession|occupation|(?:line of )?work)<nowadays>\W*$
    \bwhat do i (?:do|work)(?: (?:for (?:a living|work|money)|as|again|professionally))*\W*$
    \bwhat (?:am i|i am) by profession\b|\b(?:know|remember) what i do\b(?: for (?:a living|work))?\W*$
    \bwas (?:bin ich von beruf|arbeite ich|mache ich beruflich)\b|\bwas ist mein (?:beruf|job)\b
    \bquel(?:le)? est (?:mon métier|mon travail|ma profession)\b
    \b(?:en|a|de) qu[ée] trabajo\b|\bcu[áa]l es mi (?:trabajo|profesi[óo]n)\b
    \bqu['\u2019]est-ce que je fais dans la vie\b|\bque fais-je dans la vie\b
    \bche lavoro faccio\b|\bqual è il mio lavoro\b|\bo que (?:é que )?(?:eu )?faço na vida\b
    \bqual é o meu (?:trabalho|emprego)\b|\bwat voor werk doe ik\b|\bwat is mijn (?:beroep|werk|baan)\b
    \bem que (?:eu )?trabalho\b|\bqual é (?:a )?minha profissão\b|\bкем я работаю\b
    我(?:是)?做什[么麼](?:工作|的)|我的(?:工作|职业)是什|仕事は(?:何|なん)
    """,
    r"""
    <am> (?:<called>)?<work>|<am> <called><occupation><said>
    <am> (?:retired|self-employed|unemployed|freelanc\w+|between jobs|out of work|in (?:sales|IT))\b
    <have> work(?:ed|ing)?<when> (?:as|at|for|in|with|on|nights|days|shifts)\b
    \bmy (?:new |current |main |day )?(?:job|profession|occupation|career|trade)(?:['\u2019]s| is| as| at| in)\b
    \bI (?:also )?(?:run|own|manage) (?:an?|my|the|our) |\bI (?:teach|study|freelance|sell|repair)\b|\bfor a living\b
    <have> <job>|<have> (?:joined|start(?:ed|ing)?|(?:got|was) (?:hired|promoted))\b.{,40}\b(?:as|to|at)\b
    \bich arbeite\b|\bich bin (?:(?-i:[a-zäöü])\w+ )?(?!\w+,? \d)(?:<beruf>)|\bmein (?:beruf|job)\b
    \b(?:ich bin|ich hei(?:ß|ss)e|hier ist) (?:(?:der|die) )?<called>(?:<beruf>)
    \bsoy <called>\w+(?:or|ora|ero|era|ista)\b
    \bje (?:suis|m['\u2019]appelle) <called>\w+(?:ier|ière|eur|euse|ien|ienne|iste)\b
    \bje travaille\b|\bje suis \w+(?:ier|ière|eur|euse|ien|ienne|iste|ent)\b
    \btrabajo (?:de|como|en)\b|\bsoy (?!muy\b)\w+(?:or|ora|ero|era|ista)\b|\btrabalho (?:como|em|na|no|num|numa)\b
    \bsono (?:un['\u2019a]? ?|<called>)?(?:\w+(?:ier[ea]|ista|tore|trice|olog[oa]|tett[oa])|avvocat[oa]|medico)\b
    \bsono (?:un['\u2019])?insegnante\b
    \bsou (?:uma? )?(?!(?:solteir|brasileir|primeir|estrangeir)[oa]\b)\w+(?:eir[oa]|ista|ólog[oa])\b
    \bsou (?:uma? )?(?!(?:melh|mai|men|pi|superi)or\b)\w{3,}ora?\b
    \bsou (?:[oa] )?<called>\w+(?:eir[oa]|ista|ólog[oa]|ora?)\b
    \bsou (?:(?:[oa] )?<called>|uma? )?(?:médic|advogad|arquitet)[oa]\b
    \bik werk (?:als|bij|in|voor|op)\b|\bik ben <called>\w+(?:er|arts|eu[rt]|ist|kundige)\b
    \bik ben (?:een )?(?:leraar|lerares|kok|verpleegkundige|\w*arts|\w+(?:gieter|maker|leider))\b
    \blavoro (?:come|in|da|per|presso)\b|\bfaccio (?:il|la|l['\u2019])
    \bя работаю\b|我(?:在.{,12})?(?:当|做|是.{,8}(?:师|员|生|士|工))|として働|(?:로|으로) 일해
    <user> (?:job|occupation|profession|works? \w+|role|is an?)\b
    <the user> <works>\b
    """,
)
_EMPLOYER = (
    r"""
    \bwhere do i (?:currently )?work<nowadays>\W*$|\bwho do i work for\b
    \bwh(?:o|at)<is> my (?:employer|workplace)\b
    \b(?:what|which) company do i work\b
    \bdove lavoro\b|\bonde (?:é que )?(?:eu )?trabalho\b|\bwaar werk ik\b
    \bwo arbeite ich\b|\bd[óo]nde trabajo\b|\boù (?:est-ce que )?je travaille\b
    """,
    r"""
    <have> work(?:ed|ing)?\b.{,40}?\b(?:at|for|in|with|from)\b|<am> (?:<called>)?<work> (?:at|for|with|in)\b
    \bmy (?:new |current )?(?:employer|office|workplace|company|firm)\b|\bI (?:run|own|teach|study)\b
    <have> (?:joined|start(?:ing|ed|s)? (?:at|with|working))\b|<have> <job> (?:at|with|in|for)\b
    \b(?:job|position|role|intern\w*) (?:at|with) (?-i:[A-Z])
    \bich arbeite\b.{,40}?\b(?:bei|in|im|für|am|an)\b|\btrabajo\b.{,40}?\ben\b
    \bje travaille\b.{,40}?\b(?:à|chez|dans|pour|au|comme)\b
    \blavoro\b.{,40}?\b(?:all?a?|da|per|presso|in|nel|nella)\b|\btrabalho\b.{,40}?\b(?:em|na|no|para)\b
    \bik werk\b.{,40}?\b(?:bij|in|voor|op)\b
    <user> (?:works? (?:at|for|in)|employer|company)\b
    <the user> <works>\b
    """,
)
# Where other words than the question's say it: who moved lives there.
_HOME = (
    r"""
    \bwhere do (?:i|we) (?:currently |now )?live(?: now| these days| at the moment)?\W*$
    \bwo wohnen? (?:ich|wir)\b|\bd[óo]nde (?:vivo|vivimos)\b|\boù (?:est-ce que )?(?:j['\u2019]habite|on habite)\b
    \bdove (?:abito|vivo|abitiamo|viviamo)\b|\bonde (?:é que )?(?:eu )?(?:moro|vivo|moramos|vivemos)\b|\bwaar woon ik\b
    """,
    r"""
    \b(?:i|we)(?:['\u2019](?:ve|m|re)| have| am| are)?(?: \w+){,2}? (?:liv(?:e|ed|ing)|mov(?:ed?|ing)|relocated|based)\b
    \b(?:my|our) (?:new |home )?(?:address|home|flat|apartment|house|place)\b
    ^(?:lives?|living|moved|relocated|based)\b|^is\b.{,60}\b(?:living|based) in\b
    <user> (?:(?:just |recently |now )?(?:live|moved|relocated|is (?:based|from))|address|home)
    <the user> (?:wohnt|lebt|vive|habite|vit|abita|mora|woont)\b
    <the user> .{,40}(?:gezogen|mudado|mudó|mudou|déménagé|trasferit[oa]|verhuisd)\b
    \b(?:ich|wir) (?:wohnen?|leben?)\b|\b(?:wohnen? (?:ich|wir)|wohne in)\b|\b(?:ich bin|wir sind) .{,40}gezogen\b
    \b(?:vivo|vivimos) en\b|\b(?:me he mudado|me mudé|nos hemos mudado|nos mudamos)\b
    \b(?:j['\u2019]|on )habite\b|\b(?:j['\u2019]ai|on a|nous avons) déménagé\b|\bje me suis installée?\b
    \b(?:abito|vivo|abitiamo|viviamo) (?:a|ad|in|al|nel)\b|\bmi sono trasferit[oa]\b|\bci siamo trasferiti\b
    \b(?:moro|moramos|vivo|vivemos) (?:em|no|na)\b|\b(?:me mudei|mudei-me|mudámo-nos|nos mudamos)\b
    \bik woon\b|\bik ben .{,40}verhuisd\b
    """,
)
_INTRODUCTIONS: Final[Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]]] = {
    "name": (_read(_NAME[0]), _read(_NAME[1], re.NOFLAG)),
    "age": (_read(_AGE[0]), _read(_AGE[1])),
    "work": (_read(_WORK[0]), _read(_WORK[1])),
    "employer": (_read(_EMPLOYER[0]), _read(_EMPLOYER[1])),
    "home": (_read(_HOME[0]), _read(_HOME[1])),
}


def find_introduction(query: str) -> re.Pattern[str] | None:
    """Find what users say who tell of themselves what a question asks for: "What's my name?"."""
    if len(query) > _LONGEST_QUESTION:
        return None
    return next((told for question, told in _INTRODUCTIONS.values() if question.search(query)), None)


def read_told(topic: str) -> re.Pattern[str]:
    """Read what users say who tell of their "name", "age", "work" or "employer"."""
    return _INTRODUCTIONS[topic][1]
