"""The documentation as a site, zensical.toml: every page is in its navigation, and it asks nothing of another place."""

import re
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((REPOSITORY / "zensical.toml").read_text(encoding="utf-8"))["project"]


def pages(entries):
    """The pages of a part of the navigation, in its order."""
    for entry in entries:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else pages(target)


def test_every_page_is_in_the_navigation_once():
    assert sorted(pages(PROJECT["nav"])) == sorted(path.name for path in (REPOSITORY / "docs").glob("*.md"))


def test_the_site_asks_nothing_of_another_place():
    assert PROJECT["theme"]["font"] is False
    assert not [name for name in PROJECT if name.startswith("extra")]


def test_every_picture_is_small_and_shown_with_words_for_it():
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("bench/*.md"), *REPOSITORY.glob("docs/*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = re.findall(r"!\[([^\]]*)\]\((?:docs/|\.\./docs/)?pictures/([^)]+)\)", text)
    assert all(len(words) > 20 for words, _ in shown)
    files = {path.name: path.stat().st_size for path in (REPOSITORY / "docs" / "pictures").iterdir()}
    assert files.keys() == {name for _, name in shown}
    assert max(files.values()) <= 100_000
