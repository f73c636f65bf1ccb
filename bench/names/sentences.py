"""Sentences with the names that stand in them, written for this measurement and the tests of name finders.

A line is a sentence in which each name stands as `[kind|text]`. People, organizations and places are marked too: what
reads spelling alone does not find them, and is not asked to.
"""

import re
from dataclasses import dataclass

_MARK = re.compile(r"\[(\w+)\|([^\]]*)\]")

_LINES = """
Ping [mention|@ana] about the [hashtag|#launch] before [date|May 5].
Write to [email|ana.lopez@example.org] or call.
The docs live at [url|https://docs.example.com/guide], have a look.
[mention|@ben_k] and [mention|@cleo] are on it.
We ship on [date|2026-05-01]!
See [url|https://example.org/wiki/Tram_(vehicle)] for the history.
(More at [url|http://example.org/a?b=c&d=e#top].)
Ship it [hashtag|#now], not [hashtag|#later-maybe].
[person|Ana] moved to [place|Lisbon] in [date|May 2026].
[person|Ben] was born on [date|7 May 1988] in [place|Porto].
Invoices go to [email|billing+eu@sub.example.co.uk].
The meeting is on [date|12/06/2026] at noon.
Issue #42 is not a tag, and neither is C#.
Costs rose 5% @ 3 euro each.
Reach me as [mention|@zoe-maria] on [date|1st of June].
It is due [date|June 3rd, 2027].
[email|o'hara@example.org] has an apostrophe.
Mail [email|first.last@example.com], [email|other@example.net]; thanks.
Follow [mention|@team.core] for news.
[hashtag|#Süden] is a tag with an umlaut.
[person|Søren] writes to [email|søren@example.dk].
I may come in march, or not.
The march on [place|Rome] was long.
April is cruel, [person|May] said.
Version 1.2.3 came out on [date|3.4.2025].
Nothing happened on 99/99/2020.
Call 2024-13-45 a date and I will laugh.
Our host is [url|www.example.com], port 80.
Clone [url|https://git.example.org/team/repo.git] first.
<[url|https://example.com/path]> is how some quote it.
[organization|Acme] opened in [place|Berlin] on [date|Oct 3, 2019].
"[url|https://example.com/quoted]" he said.
Is it [url|https://example.com/q?x=1]?
The colour is #fff000 on the page.
The colour is #123456 on the page.
[hashtag|#100days] of code.
Use foo@bar as a password? No.
user@localhost is no address of the net.
Email: [email|A.B-c_d@Example-Site.org].
Thanks [mention|@ana]!
Thanks ([mention|@ben]).
scp file host@server:/tmp works.
[mention|@Łukasz] joined us.
[date|31 December 1999] was loud.
[date|Sept. 9] works for me.
[date|Feb 29, 2024] existed.
She left in [date|December 2021] for [place|Oslo].
The year 2020 was odd.
In 1984 they met.
[person|Maria] met [person|Tom] at [organization|Globex] yesterday.
Die Sitzung ist am [date|24.12.2025] um acht.
Le lien: [url|https://exemple.fr/où], merci.
[mention|@dev_ops] deploy [hashtag|#v2] to [url|https://stage.example.com/] on [date|2026-01-31].
A ratio of 3/4/5 is no triangle here.
Half of 10/20 is 5/10.
Rated 4.5.6 by nobody.
[url|HTTPS://EXAMPLE.COM/UP] shouts.
Tags: [hashtag|#a1],[hashtag|#b2];[hashtag|#c3].
&#8217; is an entity of HTML.
https:// alone is nothing.
The [project|Atlas] team uses [email|atlas@example.io] and [hashtag|#atlas].
[person|Ivan] paid on [date|5/11/24].
[date|2025-02-03]T10:00 is when the job ran.
From [date|2025-02-03] to [date|2025-02-07] we rest.
My handle is [mention|@ana.b], not @.
Mail me@ if you dare.
The [date|15th of March] is near.
We were 7 May be.
[organization|United Nations] met in [place|Geneva].
See [url|https://example.com/a,b] and [url|https://example.com/c].
"""


@dataclass(frozen=True)
class Sentence:
    """A text, and the (kind, start, end) of each name in it."""

    text: str
    names: frozenset[tuple[str, int, int]]


def _sentence(line: str) -> Sentence:
    text, names, after = "", set(), 0
    for mark in _MARK.finditer(line):
        text += line[after : mark.start()]
        names.add((mark[1], len(text), len(text) + len(mark[2])))
        text += mark[2]
        after = mark.end()
    return Sentence(text + line[after:], frozenset(names))


SENTENCES = [_sentence(line) for line in _LINES.strip().splitlines()]
# What spelling gives away.
SPELT = frozenset({"mention", "hashtag", "email", "url", "date"})
