"""Whatever a file holds, reading it gives turns and broken records or refuses it with UnreadableImport."""

import json
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engrain.errors import UnreadableImport
from engrain.portability.formats import FORMATS, detect, read
from engrain.portability.formats.records import (
    BrokenRecord,
    IgnoredKeys,
    ImportedEntity,
    ImportedFact,
    ImportedRule,
    ImportedTurn,
)

SAMPLES = Path(__file__).parents[2] / "support" / "samples"
DOCUMENTS = [path for path in sorted(SAMPLES.iterdir()) if path.suffix == ".json"]
NAMES = st.sampled_from(["auto", *FORMATS])
KEYS = st.sampled_from(
    "id uuid title name mapping current_node message author role content content_type parts text create_time metadata "
    "parent children chat_messages sender attachments files created_at type sessionId timestamp messages session "
    "results memory user_id updated_at expiration_date categories namespace key value observations from to "
    "relationType entityType kind subject predicate about aliases archive_id tags is_deleted "
    "speaker time sample_id conversation session_1 session_1_date_time dia_id blip_caption recipient".split()
)
TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            "user",
            "human",
            "text",
            "code",
            "2024-05-08",
            "1:56 pm on 8 May, 2023",
            "entity",
            "relation",
            "fact",
            "rule",
            "passage-1",
            "\ud800",
            "a",
        ]
    ),
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), TEXTS, st.just([]), st.just({})
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, TEXTS), inner, max_size=5)),
    max_leaves=25,
)
MARKS = st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"PK\3\4"])
MANY = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def times_of(record):
    return [value for name in type(record).__slots__ if isinstance(value := getattr(record, name), datetime)]


def check(path, form):
    """Reads twice; every record is one of the three, well formed, and the second reading says the same."""
    try:
        records = list(read(path, form))
    except UnreadableImport:
        return
    for record in records:
        if isinstance(record, BrokenRecord):
            assert record.position
            assert record.reason
            assert len(record.reason) < 1000
        elif isinstance(record, IgnoredKeys):
            assert 0 < len(record.keys) <= 100
        else:
            assert isinstance(record, ImportedTurn | ImportedFact | ImportedEntity | ImportedRule)
            assert record.source_id
            assert (record.name if isinstance(record, ImportedEntity) else record.content).strip()
            assert all(moment.utcoffset() == timedelta(0) for moment in times_of(record))
        if isinstance(record, ImportedTurn):
            assert record.session or record.fields
            assert record.role in {"user", "assistant", "tool", "system"}
        if isinstance(record, ImportedFact):
            assert record.predicate.strip()
    assert records == list(read(path, form))


@MANY
@given(value=VALUES, form=NAMES)
def test_any_json_document(tmp_path, value, form):
    path = tmp_path / "document"
    path.write_text(json.dumps(value), encoding="utf-8")
    check(path, form)


@MANY
@given(rows=st.lists(VALUES, max_size=5), form=NAMES)
def test_any_json_lines(tmp_path, rows, form):
    path = tmp_path / "lines"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    check(path, form)


@MANY
@given(
    raw=st.binary(max_size=200),
    mark=MARKS,
    form=NAMES,
)
def test_any_bytes(tmp_path, raw, mark, form):
    path = tmp_path / "bytes"
    path.write_bytes(mark + raw)
    check(path, form)


MARKDOWN = st.lists(
    st.one_of(
        TEXTS,
        st.sampled_from(
            ["---", "# a", "## b", "```", "~~~~", "tags: [a, 'b']", "- c", "date: 2024-05-08", "date: x", ""]
        ),
    ),
    max_size=12,
).map("\n".join)


@MANY
@given(text=MARKDOWN)
def test_any_markdown(tmp_path, text):
    path = tmp_path / "notes.md"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    check(path, "auto")


def changed(value, at, to):
    """`value` with its `at`-th inner value, counted depth first, replaced by `to`."""
    left = [at]

    def walk(inner):
        left[0] -= 1
        if left[0] == -1:
            return to
        if isinstance(inner, list):
            return [walk(item) for item in inner]
        if isinstance(inner, dict):
            return {key: walk(item) for key, item in inner.items()}
        return inner

    return walk(value)


@MANY
@given(real=st.sampled_from(DOCUMENTS), at=st.integers(0, 200), to=VALUES)
def test_any_one_value_of_a_real_file_replaced(tmp_path, real, at, to):
    path = tmp_path / real.name
    path.write_text(json.dumps(changed(json.loads(real.read_bytes()), at, to)), encoding="utf-8")
    check(path, "auto")
    check(path, detect(real))


@MANY
@given(
    real=st.sampled_from(sorted(SAMPLES.iterdir())),
    at=st.floats(0, 1, exclude_max=True),
    patch=st.binary(max_size=4),
    form=NAMES,
)
def test_any_bytes_of_a_real_file_replaced(tmp_path, real, at, patch, form):
    raw = real.read_bytes()
    start = int(at * len(raw))
    path = tmp_path / real.name
    path.write_bytes(raw[:start] + patch + raw[start + len(patch) + 1 :])
    check(path, form)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "export.zip"
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", (SAMPLES / "claude.json").read_bytes())
        packed.writestr("user.json", "{}")
    return path.read_bytes()


@MANY
@given(at=st.floats(0, 1, exclude_max=True), patch=st.binary(min_size=1, max_size=6))
def test_any_bytes_of_a_zip_replaced(tmp_path, archive, at, patch):
    start = int(at * len(archive))
    path = tmp_path / "export.zip"
    path.write_bytes(archive[:start] + patch + archive[start + len(patch) :])
    check(path, "auto")
    check(path, "claude")
