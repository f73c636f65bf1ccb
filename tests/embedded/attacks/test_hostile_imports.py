"""Imports over HTTP: what a small upload can make a server of many tenants do."""

import io
import json
import random
import tracemalloc
import zipfile

import httpx2
import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving

MOST_BYTES = 8_000_000


@pytest.fixture(scope="module")
def memory():
    settings = {"server": {"max_file_bytes": MOST_BYTES}}
    with Memory.open(":memory:", embedder="none", settings=settings) as memory:
        yield memory


@pytest.fixture(scope="module")
def app(memory):
    return create_app(memory, gate=Gate(memory, keys_required=True))


@pytest.fixture
def upload(app, memory):
    """Uploads a file to import as a writer of a tenant."""
    with serving(app) as url, httpx2.Client(base_url=url, timeout=600) as client:

        def send(content, name="export.zip", tenant="default"):
            key = memory.keys.create(role="writer", tenant=tenant).secret
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/octet-stream"}
            return client.post(f"/v1/import_file?filename={name}", content=content, headers=headers)

        yield send


def zipped(**members):
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "-") + ".json", text)
    return packed.getvalue()


def conversation(session, text="I moved to Lisbon."):
    message = {"id": f"{session}-1", "author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
    return {"id": session, "current_node": "a", "mapping": {"a": {"message": message, "parent": None}}}


def test_a_small_archive_of_many_values_is_read_in_little_memory(upload):
    numbers = random.Random(3)
    many = "".join(f'{{"mapping":{{}},"id":{numbers.getrandbits(20)}}},' for _ in range(120_000))
    many = f"[{many}{json.dumps(conversation('last'))}]"
    packed = zipped(conversations=many)
    assert (len(packed) < len(many) // 5, len(many) < MOST_BYTES) == (True, True)
    tracemalloc.start()
    answer = upload(packed)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (answer.status_code, answer.json()["added"]) == (200, 1)
    assert peak < 15_000_000  # 37 MB when all was parsed at once


def test_one_value_of_many_is_refused_before_it_is_parsed(upload):
    lists = "[" + "[]," * 1_500_000 + "[]]"
    tracemalloc.start()
    answer = upload(f'[{{"mapping":{lists}}}]'.encode(), "conversations.json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (answer.status_code, answer.json()["code"]) == (422, "unreadable_import")
    assert "would take more than 128 MB of memory: split it" in answer.json()["detail"]
    assert peak < 100_000_000


def test_the_members_of_an_archive_are_bounded_together_by_what_a_file_may_have(upload):
    half = json.dumps([conversation(f"s{number}", f"Tram {number}. " * 450) for number in range(1_000)])
    assert MOST_BYTES // 2 < len(half) < MOST_BYTES
    answer = upload(zipped(conversations_1=half, conversations_2=half))
    assert (answer.status_code, answer.json()["code"]) == (422, "unreadable_import")
    assert (
        answer.json()["detail"]
        == f"export.zip unpacks to {2 * len(half):,} bytes; this server takes 8,000,000: send less at once"
    )


@pytest.mark.parametrize("line", ["# {}x", "# a {}x", "## {}", "{}: x", "- {}x", "a{}x"])
@pytest.mark.parametrize("blank", [" ", "\t", " #", "#", "- "])
def test_a_line_of_blanks_in_markdown_is_read_in_one_go(upload, line, blank):
    """A pattern that tries again from every place would stop the server for hours."""
    answer = upload(f"# Trip\n\nWe go to Lisbon.\n\n{line.format(blank * 100_000)}\n\nThen home.", name="notes.md")
    assert answer.status_code == 200, answer.text


def test_a_file_of_nothing_but_broken_records_is_counted_and_not_listed(upload):
    answer = upload(b'{"role": "user", "content": "tram"}\n' + b"7\n" * 5_000, "turns.jsonl").json()
    assert (answer["broken_count"], len(answer["broken"]), answer["added"]) == (5_000, 1_000, 1)


def test_a_tenant_imports_one_file_at_a_time_and_others_do_not_wait_for_it(upload, app):
    turns = b'{"role": "user", "content": "The tram is late."}\n'
    with app.state.imports.hold("busy"):
        refused = upload(turns, "turns.jsonl", tenant="busy")
        assert (refused.status_code, refused.json()["code"], refused.headers["Retry-After"]) == (
            429,
            "rate_limited",
            "10",
        )
        assert upload(turns, "turns.jsonl", tenant="other").status_code == 200
    assert upload(turns, "turns.jsonl", tenant="busy").status_code == 200
