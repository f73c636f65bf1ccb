"""The page of the server in headless Chromium; web/test has the tests themselves."""

import gzip
import json
import re

import pytest

from engrain.retrieval.presets import PRESETS
from tests.browser.conftest import ROOT, WEB, run

BUILT = ROOT / "src" / "engrain" / "interfaces" / "web"
MOST_BYTES = 250_000


def read_files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("packages")
def test_the_built_files_are_those_of_the_source_and_small(tmp_path):
    run("npm", "run", "build", PAGE_OUT=str(tmp_path))
    built = read_files(tmp_path)
    changed = [name for name, content in read_files(BUILT).items() ^ built.items()]
    assert not changed, f"{sorted(set(changed))} are not built from web/: run make page"
    assert sum(len(gzip.compress(content)) for content in built.values()) <= MOST_BYTES


def test_the_page_has_no_inline_script_or_style_and_names_no_other_place():
    for name, content in read_files(BUILT).items():
        assert (
            not re.search(rb"<script(?![^>]* src=\"\./)|<style| style=\"| on[a-z]+=\"", content) or name != "index.html"
        )
    index = (BUILT / "index.html").read_text()
    assert not re.search(r"https?://|//", index)


def test_its_packages_are_pinned_and_its_lock_file_names_no_host():
    package = json.loads((WEB / "package.json").read_text())
    assert all(re.fullmatch(r"[\d.]+", version) for version in package["devDependencies"].values())
    lock = (WEB / "package-lock.json").read_text()
    assert '"integrity"' in lock
    assert '"resolved"' not in lock


@pytest.mark.usefixtures("packages")
def test_every_view_works_in_a_browser(world):
    shown = run("node", "--test-reporter=spec", "test/all.js", PAGE_WORLD=str(world))
    counts = dict(re.findall(r"^\u2139 (\w+) (\d+)$", shown, re.MULTILINE))
    assert (counts["fail"], counts["skipped"], counts["cancelled"]) == ("0", "0", "0")
    assert int(counts["tests"]) >= 50


def test_the_rankings_that_the_page_offers_are_those_that_ship():
    offered = re.search(r"const PRESETS = \[(.*?)\]", (WEB / "src" / "views" / "search.tsx").read_text())[1]
    assert sorted(json.loads(f"[{offered}]")) == sorted(PRESETS)
