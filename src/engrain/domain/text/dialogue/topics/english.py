"""English names of each topic, and phrases of those who tell of it. Pure.

Agents look up "dietary restrictions", "travel plans" or "tech stack", which no statement has in it: "I can't eat
gluten.", "We're going to Lofoten in June" and "We use FastAPI" tell of them.
"""

from __future__ import annotations

from typing import Final

BEFORE: Final = (
    r"(?:(?:what|which) (?:are|is) |do (?:i|we) have |tell me about |what do you know about )?"
    r"(?:(?:my|our|any|an?|all) )?"
    r"(?:(?:current|known|other|personal|upcoming|planned|next|future|ongoing|active|regular|preferred|recurring) )?"
)
AFTER: Final = r"(?:'s?)?(?: (?:names?|info|information|details))?(?: about (?:me|us))?"
INTRODUCTIONS: Final = {
    "name": "name, own|full|first|last|real name, nickname",
    "age": "age",
    "work": "job, job title, new|day job, role, profession, occupation, work, line of work, career",
    "employer": "employer, company, workplace",
}
PARTS: Final = {
    "<I>": r"\b(?:I|we|user)(?:['\u2019](?:m|re|d|ve)| am| are| would| have)?<really>",
    "<really>": "(?: (?:also|really|still|just|now|often))*",
    "<our>": r"\b(?:my|our|user) (?:[\w-]+ )?",
    "<day>": r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?",
    "<no>": r"(?:can['\u2019]?t|cannot|mustn['\u2019]?t|must not|don['\u2019]?t|do not|never|no longer)",
    "<partner>": "(?:husband|wife|partner|spouse|boyfriend|girlfriend|fiancée?)",
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
}
TOPICS: Final = {
    "diet": (
        """
        diet, dietary, diet|dietary restriction|requirement|need|preference|habit, eating habit, food
        restriction|requirement|preference|allergy|allergies|intolerance, allergy, allergies, intolerance, what
        can|must|should|may i eat, what can|must|should|may i not eat, what can't|cant i eat
        """,
        r"""
        allerg|intoleran|\bco?eliac|\bvegan|vegetarian|pescatarian|gluten|lactose|\bhalal\b|\bkosher\b|\bketo\b|\bdiet\b
        hay fever|<no> (?:eat|drink|tolerate)\b
        """,
    ),
    "pets": (
        "pet, animal",
        r"""
        \b(?:cat|dog|kitten|rabbit|hamster|guinea pig|parrot|budgie|tortoise|turtle|horse|goldfish|hen|chicken|goat)s?\b
        \b(?:lizard|snake|ferret|pet|<dog>)s?\b|\b(?:aquarium|pupp(?:y|ies)|pon(?:y|ies)|canar(?:y|ies))\b
        """,
    ),
    "family": (
        "family, family member|situation, relative, who is in my family",
        r"<our>(?:<partner>|<parent>|<sibling>|<child>|<relative>)\b|\b(?:married|divorced|widowed)\b",
    ),
    "children": (
        "son, daughter, kid, child, children, baby, twins, eldest, youngest",
        r"(?:<our>|\b(?:have|got) (?:an?|two|three|four|\d) (?:\w+ )?)<child>\b|\bno (?:kids|children)\b|\bpregnant\b",
    ),
    "dogs": (
        "dog",
        r"\b(?:<dog>)s?\b|\bpupp(?:y|ies)\b",
    ),
    "cats": (
        "cat",
        r"\b(?:cat|kitten|tomcat)s?\b",
    ),
    "partner": (
        """
        husband, wife, partner, spouse, boyfriend, girlfriend, fiancé, fiancée, significant other, relationship|marital
        status
        """,
        r"""
        <our>(?:<partner>|ex)\b
        (?:<I>|\bgot) (?:married|engaged|divorced|separated|single|widowed|dating)\b
        """,
    ),
    "parents": (
        "parent, mum, mom, mother, dad, father",
        r"<our><parent>\b",
    ),
    "siblings": (
        "brother, sister, sibling, twin",
        r"<our><sibling>\b",
    ),
    "friends": (
        "friend, best|close friend",
        r"<our>(?:friends?|mate|buddy|flatmate|roommate)\b|\bfriend of mine\b",
    ),
    "location": (
        """
        location, city, town, country, residence, home location|city|town|country|residence, hometown, address, living
        situation
        """,
        r"""
        <I> (?:lives?|living|moved|moving|based|relocated|resides?|settled|from)\b
        <our>(?:flat|house|apartment|address|home)\b
        \bI(?:['\u2019]m| am)\b.{,60}\b(?:in|from) (?-i:[A-Z])|\bhere\b.{,30}\bfrom (?-i:[A-Z])
        """,
    ),
    "hobbies": (
        """
        hobby|hobbies, hobby|hobbies and interest, interest, leisure|weekly|free-time activities, free time activities,
        pastime, what do i like|love|enjoy doing, what do i like|love|enjoy to do, what do i like|love|enjoy doing for
        fun, what do i like|love|enjoy to do for fun, what do i like|love|enjoy doing in my free|spare time, what do i
        like|love|enjoy to do in my free|spare time, what do i do for fun, what do i do in my free|spare time
        """,
        r"""
        <I> (?:love|like|enjoy|adore|play|collect|knit|paint|draw|bake|garden|climb|dance|sing|cycle|run|swim|hike)s?\b
        <I> (?:ski|surf|sail|read|cook|into)(?:s|ing)?\b|\bhobb|\b(?:class|lessons?|club|choir|band|team|training)\b
        """,
    ),
    "travel": (
        "travel, trip, vacation, holiday, journey, travel|trip|vacation|holiday|journey plan",
        r"""
        \b(?:going|go|fly(?:ing)?|flew|travell?(?:ing)?|headed|driving|off) to (?-i:[A-Z])
        <I> (?:want|plan|planning|going|hope) to (?:visit|see|cycle|hike|fly|travel|drive|spend|ski|explore|tour)\b
        \b(?:trip|flight|hotel|holidays?|vacation|cabin|airbnb|visa|cruise|camping|itinerary|booked)\b
        """,
    ),
    "health": (
        """
        health, health|medical issue|problem|condition|status|concern|history|need|info|information, illness,
        illnesses, injury, injuries, medication, medicine
        """,
        r"""
        allerg|\bco?eliac|asthma|diabet|migraine|headache|\bpains?\b|\binjur|surger|\boperation|\bdoctor|\bDr\b|insulin
        \bphysio\b|\btherap(?:y|ist)\b|medic|\bpills?\b|\btablets?\b|\d ?mg\b|diagnos|\bblood|pregnan|depress|\badhd
        autis|cancer|arthrit|parkinson|inhaler|hospital|\bhurts?\b|\bfever\b|\bill\b|\bslipped disc|\bsprain
        \b(?:back|knee|heart|hip|shoulder|sleep) problems?\b
        """,
    ),
    "fears": (
        "fear, phobia, anxiety, anxieties, worries, what am i afraid|scared|frightened of",
        r"\bafraid|\bscare[ds]|\bfears?\b|terrified|phobi|anxious|panic|\bdread|\bworr(?:y|ied)",
    ),
    "goals": (
        """
        goal, target, ambition, fitness|career|life|financial|saving|learning|training goal|target|ambition,
        aspiration, resolution
        """,
        r"""
        <I> (?:want|hope|plan|planning|aim|aiming|training|saving|trying|like|love|going)s? (?:to|for)\b
        \bgoal|\btarget\b|\bdream(?:s|ing)? of\b
        """,
    ),
    "preferences": (
        "preference, likes, likes and dislikes, dislikes, taste, favourite, favorite",
        r"""
        <I> (?:(?:prefer|like|love|hate|dislike|enjoy|detest)s?|(?:don['\u2019]t|do not) like|can['\u2019]t stand)\b
        \bfavou?rite\b|\bplease\b
        """,
    ),
    "communication": (
        """
        communication|response|answer|reply|writing|contact|conversation style|preference|format|tone,
        communication|response|answer|reply|writing|contact|conversation style preference,
        communication|response|answer|reply language
        """,
        r"""
        \b(?:short|brief|concise|long|detailed|formal|informal) (?:answers?|repl(?:y|ies)|messages?)\b|\bbullet
        \bemojis?\b|\b(?:answer|reply|write) (?:in|to)\b|\b(?:text|call|e-?mail) me\b|\bphone calls?\b
        \bplease (?:don['\u2019]t|no|always|never|use|write|be|answer)\b
        """,
    ),
    "schedule": (
        """
        schedule, hours, routine, availability, work|working|daily|weekly schedule|hours|routine|availability
        """,
        r"""
        \b<day>\b|\bevery (?:day|week|morning|evening|night)|\b(?:mornings|evenings|nights|shifts?)\b
        \d ?(?:am|pm|o['\u2019]clock)\b|\b\d\d?:\d\d\b|\b(?:part|full)[- ]time\b
        """,
    ),
    "vehicle": (
        "vehicle, car, transport, transportation",
        r"""
        \b(?:car|van|truck|motorbike|scooter|bike|drive|Volvo|Skoda|BMW|Audi|VW|Volkswagen|Golf|Toyota|Honda|Ford)\b
        \b(?:Fiat|Tesla|Renault|Peugeot|Mazda|Kia|Hyundai|Mercedes|Opel|Nissan|Dacia)\b
        """,
    ),
    "education": (
        "education, studies, degree, university, qualification",
        r"""
        \bstud(?:y|ied|ying|ent)|\bdegree|universit|\bcollege|\bschool\b|graduat|\bPhD\b|\bmaster['\u2019]?s?\b
        bachelor|\bexam|\bthesis
        """,
    ),
    "projects": (
        "project, task, focus, what am i working on, what am i currently working on",
        r"""
        \bproject|\b(?:working on|building|developing|writing|rewriting|refactoring|implementing|migrating|fixing)\b
        \bmy (?:\w+ )?(?:app|website|startup|thesis|novel|book|podcast|blog)\b
        """,
    ),
    "finances": (
        "finances, financial situation|info|information, income, budget",
        r"\bbudget|\bsav(?:e|ing)|salary|\bincome|mortgage|\brent\b|\bdebt|\bloan|[€$\u00a3] ?\d|\d,\d{3}|\beuro",
    ),
    "languages": (
        """
        language, spoken language, language spoken, language preference|skill, spoken language preference|skill
        """,
        r"""
        \b(?:English|German|French|Italian|Spanish|Portuguese|Dutch|Polish|Russian|Ukrainian|Turkish|Arabic|Hebrew)\b
        \b(?:Chinese|Mandarin|Japanese|Korean|Hindi|Greek|Swedish|Norwegian|Danish|Finnish|Czech|Hungarian|Romanian)\b
        \b(?:Slovenian|Croatian|Serbian|Vietnamese|Thai|Catalan|bilingual|fluent)\b|\bin (?:<speech>)\b
        """,
    ),
    "programming_languages": (
        "programming|coding language",
        r"\b(?-i:<speech>)\b",
    ),
    "stack": (
        "stack, tech|technology|software stack, tools, technologies, dependencies",
        r"\b(?-i:<speech>|<framework>|<database>|<platform>)\b|<I> (?:use|using|work with|code in|build with)\b",
    ),
    "frameworks": (
        "framework, web|frontend|backend framework",
        r"\b(?-i:<framework>)\b|\bframework",
    ),
    "databases": (
        "database, db",
        r"\b(?-i:<database>)\b|\bdatabase|\bDB\b",
    ),
    "deployment": (
        """
        deployment, deployment process|pipeline|setup, ci, ci/cd, ci|ci/cd pipeline|setup, hosting, infrastructure
        """,
        r"""
        \bdeploy|\bpipeline|\bCI\b|\bhosted\b|\b(?:GitHub Actions|GitLab|Jenkins|CircleCI|Woodpecker|Buildkite)\b
        \b(?-i:<platform>)\b
        """,
    ),
    "environment": (
        """
        editor, code|text editor, ide, dev|development|work environment|setup|machine, operating system, os, computer,
        laptop
        """,
        r"""
        \b(?:neovim|vim|emacs|VS ?Code|IntelliJ|PyCharm|Sublime|Zed|Cursor|MacBook|ThinkPad|laptop|Linux|Ubuntu)\b
        \b(?:Debian|Fedora|Arch|Windows|macOS|WSL|NixOS)\b
        """,
    ),
    "coding_style": (
        """
        code|coding|programming style|preference|convention|standard|guideline, code|coding|programming
        style|convention|standard|guideline preference
        """,
        r"""
        \btype hints?|\bcomments?\b|docstring|\b(?:small|short|pure) functions\b|inheritance|\bline length|\bformatt
        \b(?:tabs|spaces|semicolons?|naming|camelCase|snake_case)\b|\b(?:never|always|don['\u2019]?t|do not) use\b
        """,
    ),
    "deadlines": (
        "deadline, due date",
        r"""
        \bdeadline|\bdue\b|\b(?:has|have|must|needs?) (?:to )?be (?:done|ready|finished)\b
        \bby (?:<day>|the \d|end of|next|(?-i:[A-Z])\w+ \d)
        """,
    ),
    "meetings": (
        "meeting, meeting schedule",
        r"\bstand-?up|\bretro\b|\bmeet(?:s|ing)|\bsync\b|\b1:1\b",
    ),
    "profile": (
        """
        info, information, detail, profile, fact, background, bio, identity,
        basic|background info|information|detail|fact|profile, basic info|information|detail|fact about me|us
        """,
        r"""
        <I> (?:live|work|born|from|moved|study)\b|<our>(?:name|birthday|job|<partner>|<child>)\b
        \bI(?:['\u2019]m| am) (?:an?\b|\d\d\b|(?-i:[A-Z]))
        """,
    ),
}
