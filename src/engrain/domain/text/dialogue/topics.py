"""Look-ups of a topic of the user or their code, and what users say who tell of it. Pure. English.

Agents look up "dietary restrictions", "travel plans" or "tech stack", which no statement has in it: "I can't eat
gluten.", "We're going to Lofoten in June" and "We use FastAPI" tell of them.
"""

from __future__ import annotations

import re
from typing import Final

from engrain.domain.text.patterns import join_phrases, lazy_pattern

_PARTS: Final = {
    "<I>": r"\b(?:I|we|user)(?:['\u2019](?:m|re|d|ve)| am| are| would| have)?<really>",
    "<really>": "(?: (?:also|really|still|just|now|often))*",
    "<our>": r"\b(?:my|our|user) (?:[\w-]+ )?",
    "<day>": r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?",
    "<no>": r"(?:can['\u2019]?t|cannot|mustn['\u2019]?t|must not|don['\u2019]?t|do not|never|no longer)",
    "<partner>": "(?:husband|wife|partner|spouse|boyfriend|girlfriend|fianc\u00e9e?)",
    "<parent>": "(?:parents?|mum|mom|mother|dad|father)",
    "<sibling>": "(?:brothers?|sisters?|siblings?|twin)",
    "<child>": "(?:sons?|daughters?|kids?|child(?:ren)?|baby|twins|eldest|youngest)",
    "<relative>": r"(?:grand\w+|aunts?|uncles?|cousins?|nephews?|nieces?|gran|nan|family|in-laws?|\w+-in-law)",
    "<dog>": "dog|<breed>|poodle|retriever|spaniel|terrier|collie|dachshund|greyhound|whippet|lurcher|mutt",
    "<breed>": r"beagle|labrador|corgi|husky|pug|chihuahua|dalmatian|rottweiler|bulldog|cockapoo|setter|shiba",
    "<speech>": "Python|JavaScript|TypeScript|Java|Kotlin|Swift|Rust|Go|Golang|Ruby|PHP|Scala|Haskell|Elixir|Clojure|C",
    "<framework>": "React|Vue|Angular|Svelte|Next|Django|Flask|FastAPI|Rails|Spring|Laravel|Express|Phoenix|Qt|Flutter",
    "<database>": r"Postgres\w*|MySQL|MariaDB|SQLite|MongoDB|Redis|DynamoDB|Cassandra|ClickHouse|DuckDB|Oracle",
    "<platform>": "Docker|Kubernetes|k8s|k3s|Terraform|Ansible|AWS|Azure|GCP|Heroku|Vercel|Netlify|Hetzner|nginx|Kafka",
    "<trouble>": r"(?:issues?|problems?|conditions?|status|concerns?|history|info\w*|needs)",
}
_LEAD: Final = (
    r"\W*(?:(?:what|which) (?:are|is) |do (?:i|we) have |tell me about |what do you know about )?"
    r"(?:(?:my|our|any|an?|all) )?(?:(?:current|known|other|personal) )?"
)


# Each topic by its names, and what somebody says who tells of it.
_TOPICS: Final = (
    (
        r"""
        diet(?:ary)?(?: (?:restrictions?|requirements?|needs|preferences?|habits?|info\w*))?|eating habits
        food (?:restrictions?|preferences?|allerg\w+|intolerances?)|allerg(?:y|ies)|intolerances?
        what (?:can['\u2019]?t|must|should|may|can) i (?:not )?eat
        """,
        r"""
        allerg|intoleran|\bco?eliac|\bvegan|vegetarian|pescatarian|gluten|lactose|\bhalal\b|\bkosher\b|\bketo\b|\bdiet\b
        hay fever|<no> (?:eat|drink|tolerate)\b
        """,
    ),
    (
        r"pets?|animals?",
        r"""
        \b(?:cat|dog|kitten|rabbit|hamster|guinea pig|parrot|budgie|tortoise|turtle|horse|goldfish|hen|chicken|goat)s?\b
        \b(?:lizard|snake|ferret|pet|<dog>)s?\b|\b(?:aquarium|pupp(?:y|ies)|pon(?:y|ies)|canar(?:y|ies))\b
        """,
    ),
    (
        r"family(?: (?:members?|info\w*|situation))?|relatives|who is in my family",
        r"<our>(?:<partner>|<parent>|<sibling>|<child>|<relative>)\b|\b(?:married|divorced|widowed)\b",
    ),
    (
        r"<child>",
        r"(?:<our>|\b(?:have|got) (?:an?|two|three|four|\d) (?:\w+ )?)<child>\b|\bno (?:kids|children)\b|\bpregnant\b",
    ),
    (r"dogs?", r"\b(?:<dog>)s?\b|\bpupp(?:y|ies)\b"),
    (r"cats?", r"\b(?:cat|kitten|tomcat)s?\b"),
    (
        r"<partner>|significant other|(?:relationship|marital) status",
        r"""
        <our>(?:<partner>|ex)\b
        (?:<I>|\bgot) (?:married|engaged|divorced|separated|single|widowed|dating)\b
        """,
    ),
    (r"<parent>", r"<our><parent>\b"),
    (r"<sibling>", r"<our><sibling>\b"),
    (r"(?:best |close )?friends?", r"<our>(?:friends?|mate|buddy|flatmate|roommate)\b|\bfriend of mine\b"),
    (
        r"(?:home )?(?:location|city|town|country|residence)|hometown|address|living situation",
        r"""
        <I> (?:lives?|living|moved|moving|based|relocated|resides?|settled|from)\b
        <our>(?:flat|house|apartment|address|home)\b
        \bI(?:['\u2019]m| am)\b.{,60}\b(?:in|from) (?-i:[A-Z])|\bhere\b.{,30}\bfrom (?-i:[A-Z])
        """,
    ),
    (
        r"""
        hobb(?:y|ies)(?: and interests)?|interests?|(?:leisure|weekly|free[- ]time) activities|pastimes?
        what do i (?:(?:like|love|enjoy) (?:to do|doing)|do)(?: (?:in my (?:free|spare) time|for fun))?
        """,
        r"""
        <I> (?:love|like|enjoy|adore|play|collect|knit|paint|draw|bake|garden|climb|dance|sing|cycle|run|swim|hike)s?\b
        <I> (?:ski|surf|sail|read|cook|into)(?:s|ing)?\b|\bhobb|\b(?:class|lessons?|club|choir|band|team|training)\b
        """,
    ),
    (
        r"(?:(?:upcoming|planned|next|future) )?(?:travels?|trips?|vacations?|holidays?|journeys?)(?: plans?)?",
        r"""
        \b(?:going|go|fly(?:ing)?|flew|travell?(?:ing)?|headed|driving|off) to (?-i:[A-Z])
        <I> (?:want|plan|planning|going|hope) to (?:visit|see|cycle|hike|fly|travel|drive|spend|ski|explore|tour)\b
        \b(?:trip|flight|hotel|holidays?|vacation|cabin|airbnb|visa|cruise|camping|itinerary|booked)\b
        """,
    ),
    (
        r"health(?: <trouble>)?|medical <trouble>|illness(?:es)?|injur(?:y|ies)|medications?|medicines?",
        r"""
        allerg|\bco?eliac|asthma|diabet|migraine|headache|\bpains?\b|\binjur|surger|\boperation|\bdoctor|\bDr\b|insulin
        \bphysio\b|\btherap(?:y|ist)\b|medic|\bpills?\b|\btablets?\b|\d ?mg\b|diagnos|\bblood|pregnan|depress|\badhd
        autis|cancer|arthrit|parkinson|inhaler|hospital|\bhurts?\b|\bfever\b|\bill\b|\bslipped disc|\bsprain
        \b(?:back|knee|heart|hip|shoulder|sleep) problems?\b
        """,
    ),
    (
        r"fears?|phobias?|anxiet(?:y|ies)|worries|what am i (?:afraid|scared|frightened) of",
        r"\bafraid|\bscare[ds]|\bfears?\b|terrified|phobi|anxious|panic|\bdread|\bworr(?:y|ied)",
    ),
    (
        r"""
        (?:(?:fitness|career|life|financial|savings?|learning|training) )?(?:goals?|targets?|ambitions?)|aspirations?
        resolutions?
        """,
        r"""
        <I> (?:want|hope|plan|planning|aim|aiming|training|saving|trying|like|love|going)s? (?:to|for)\b
        \bgoal|\btarget\b|\bdream(?:s|ing)? of\b
        """,
    ),
    (
        r"preferences?|likes(?: and dislikes)?|dislikes|tastes?|favou?rites?",
        r"""
        <I> (?:(?:prefer|like|love|hate|dislike|enjoy|detest)s?|(?:don['\u2019]t|do not) like|can['\u2019]t stand)\b
        \bfavou?rite\b|\bplease\b
        """,
    ),
    (
        r"""
        (?:communication|response|answer|reply|writing|contact|conversation)(?: (?:style|preferences?|format|tone))+
        preferred (?:response|answer|reply|communication) (?:style|format|language)
        """,
        r"""
        \b(?:short|brief|concise|long|detailed|formal|informal) (?:answers?|repl(?:y|ies)|messages?)\b|\bbullet
        \bemojis?\b|\b(?:answer|reply|write) (?:in|to)\b|\b(?:text|call|e-?mail) me\b|\bphone calls?\b
        \bplease (?:don['\u2019]t|no|always|never|use|write|be|answer)\b
        """,
    ),
    (
        r"(?:(?:work(?:ing)?|daily|weekly) )?(?:schedule|hours|routine|availability)",
        r"""
        \b<day>\b|\bevery (?:day|week|morning|evening|night)|\b(?:mornings|evenings|nights|shifts?)\b
        \d ?(?:am|pm|o['\u2019]clock)\b|\b\d\d?:\d\d\b|\b(?:part|full)[- ]time\b
        """,
    ),
    (
        r"vehicles?|cars?|transport(?:ation)?",
        r"""
        \b(?:car|van|truck|motorbike|scooter|bike|drive|Volvo|Skoda|BMW|Audi|VW|Volkswagen|Golf|Toyota|Honda|Ford)\b
        \b(?:Fiat|Tesla|Renault|Peugeot|Mazda|Kia|Hyundai|Mercedes|Opel|Nissan|Dacia)\b
        """,
    ),
    (
        r"education|studies|degree|university|qualifications?",
        r"""
        \bstud(?:y|ied|ying|ent)|\bdegree|universit|\bcollege|\bschool\b|graduat|\bPhD\b|\bmaster['\u2019]?s?\b
        bachelor|\bexam|\bthesis
        """,
    ),
    (
        r"(?:(?:ongoing|active) )?(?:projects?|tasks?|focus)|what am i (?:currently )?working on",
        r"""
        \bproject|\b(?:working on|building|developing|writing|rewriting|refactoring|implementing|migrating|fixing)\b
        \bmy (?:\w+ )?(?:app|website|startup|thesis|novel|book|podcast|blog)\b
        """,
    ),
    (
        r"finances|financial (?:situation|info\w*)|income|budget",
        r"\bbudget|\bsav(?:e|ing)|salary|\bincome|mortgage|\brent\b|\bdebt|\bloan|[\u20ac$\u00a3] ?\d|\d,\d{3}|\beuro",
    ),
    (
        r"(?:spoken |preferred )?languages?(?: (?:spoken|preferences?|skills?))?",
        r"""
        \b(?:English|German|French|Italian|Spanish|Portuguese|Dutch|Polish|Russian|Ukrainian|Turkish|Arabic|Hebrew)\b
        \b(?:Chinese|Mandarin|Japanese|Korean|Hindi|Greek|Swedish|Norwegian|Danish|Finnish|Czech|Hungarian|Romanian)\b
        \b(?:Slovenian|Croatian|Serbian|Vietnamese|Thai|Catalan|bilingual|fluent)\b|\bin (?:<speech>)\b
        """,
    ),
    (
        r"(?:preferred )?(?:programming|coding) languages?",
        r"\b(?-i:<speech>)\b",
    ),
    (
        r"(?:tech(?:nology)?|software) stack|stack|tools|technologies|dependencies",
        r"\b(?-i:<speech>|<framework>|<database>|<platform>)\b|<I> (?:use|using|work with|code in|build with)\b",
    ),
    (r"(?:(?:web|frontend|backend) )?frameworks?", r"\b(?-i:<framework>)\b|\bframework"),
    (r"databases?|db", r"\b(?-i:<database>)\b|\bdatabase|\bDB\b"),
    (
        r"deployments?(?: (?:process|pipeline|setup))?|ci(?:/cd)?(?: (?:pipeline|setup))?|hosting|infrastructure",
        r"""
        \bdeploy|\bpipeline|\bCI\b|\bhosted\b|\b(?:GitHub Actions|GitLab|Jenkins|CircleCI|Woodpecker|Buildkite)\b
        \b(?-i:<platform>)\b
        """,
    ),
    (
        r"""
        (?:code |text )?editors?|ide|(?:dev(?:elopment)?|work) (?:environment|setup|machine)|operating system|os
        computer|laptop
        """,
        r"""
        \b(?:neovim|vim|emacs|VS ?Code|IntelliJ|PyCharm|Sublime|Zed|Cursor|MacBook|ThinkPad|laptop|Linux|Ubuntu)\b
        \b(?:Debian|Fedora|Arch|Windows|macOS|WSL|NixOS)\b
        """,
    ),
    (
        r"(?:cod(?:e|ing)|programming) (?:style|preferences?|conventions?|standards?|guidelines?)(?: preferences?)?",
        r"""
        \btype hints?|\bcomments?\b|docstring|\b(?:small|short|pure) functions\b|inheritance|\bline length|\bformatt
        \b(?:tabs|spaces|semicolons?|naming|camelCase|snake_case)\b|\b(?:never|always|don['\u2019]?t|do not) use\b
        """,
    ),
    (
        r"(?:upcoming )?(?:deadlines?|due dates?)",
        r"""
        \bdeadline|\bdue\b|\b(?:has|have|must|needs?) (?:to )?be (?:done|ready|finished)\b
        \bby (?:<day>|the \d|end of|next|(?-i:[A-Z])\w+ \d)
        """,
    ),
    (
        r"meetings?(?: schedule)?|(?:regular|recurring) meetings",
        r"\bstand-?up|\bretro\b|\bmeet(?:s|ing)|\bsync\b|\b1:1\b",
    ),
    (
        r"(?:(?:basic|background) )?(?:info\w*|details|profile|facts|background|bio|identity)(?: about (?:me|us))?",
        r"""
        <I> (?:live|work|born|from|moved|study)\b|<our>(?:name|birthday|job|<partner>|<child>)\b
        \bI(?:['\u2019]m| am) (?:an?\b|\d\d\b|(?-i:[A-Z]))
        """,
    ),
)
_NAMES: Final = "|".join(f"({join_phrases(names, _PARTS)})" for names, _ in _TOPICS)  # a group each
_NAMED: Final = lazy_pattern(rf"{_LEAD}(?:{_NAMES})(?:['\u2019]s?)?(?: names?)?\W*$", re.IGNORECASE)
_TOLD: Final = tuple(lazy_pattern(join_phrases(told, _PARTS), re.IGNORECASE) for _, told in _TOPICS)


def find_topic(query: str) -> re.Pattern[str] | None:
    """Find what users say who tell of the topic that a query names, and nothing else: "my pets", "travel plans"."""
    named = _NAMED.match(query)
    return None if named is None or named.lastindex is None else _TOLD[named.lastindex - 1]
