import json
import struct
import tracemalloc
import zipfile

import pytest

from engrain.errors import UnreadableImport
from engrain.portability.formats import detect, files, read
from engrain.portability.formats.records import BrokenRecord, ImportedTurn


@pytest.fixture
def zipped(tmp_path):
    def pack(members, name="export.zip", **options):
        options.setdefault("compression", zipfile.ZIP_DEFLATED)
        with zipfile.ZipFile(tmp_path / name, "w", **options) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return tmp_path / name

    return pack


@pytest.mark.parametrize("name", ["chatgpt", "claude"])
@pytest.mark.parametrize("folder", ["", "export 2025/"])
def test_the_zip_reads_like_the_file_in_it(samples, zipped, name, folder):
    content = (samples / f"{name}.json").read_bytes()
    path = zipped(
        {
            f"{folder}chat.html": "<html>",
            f"{folder}user.json": "{}",
            f"__MACOSX/{folder}._conversations.json": b"\0\5\26\7",
            f"{folder}conversations.json": content,
        }
    )

    assert detect(path) == name
    assert list(read(path)) == list(read(samples / f"{name}.json"))
    assert list(read(path, name)) == list(read(path))


def test_numbered_pieces_are_read_in_order(sample, zipped):
    first, second = sample("chatgpt.json")
    path = zipped(
        {
            "conversations-001.json": json.dumps([second, 7]),
            "conversations-000.json": json.dumps([first]),
            "conversations-002.json": "[broken",
            "shared_conversations.json": "[]",
        }
    )

    records = list(read(path))

    assert [record.session for record in records if isinstance(record, ImportedTurn)] == [first["id"]] * 4 + [
        second["id"]
    ]
    assert records[5] == BrokenRecord("conversations-001.json, conversations[1]", "a number (7), expected an object")
    assert records[6].position == "conversations-002.json"
    assert "not JSON" in records[6].reason
    assert records == list(read(path, "chatgpt"))


def test_an_empty_piece_does_not_hide_the_format(sample, zipped):
    path = zipped({"conversations-000.json": "[]", "conversations-001.json": json.dumps(sample("claude.json"))})

    assert detect(path) == "claude"
    assert len(list(read(path))) == 3


def test_a_piece_that_goes_away_is_a_broken_record(sample, zipped):
    members = {f"conversations-00{i}.json": json.dumps(sample("claude.json")) for i in range(2)}
    records = read(zipped(members), "claude")
    zipped({"conversations-000.json": members["conversations-000.json"]})

    *turns, broken = records

    assert len(turns) == 3
    assert broken.position == "conversations-001.json"
    assert "cannot be unpacked" in broken.reason


def test_a_zip_of_something_else_is_refused_with_what_it_holds(zipped):
    with pytest.raises(UnreadableImport, match=r"without conversations\.json; it holds a\.txt, b/c\.txt"):
        read(zipped({"a.txt": "", "b/c.txt": ""}))
    with pytest.raises(UnreadableImport, match="it holds nothing"):
        read(zipped({}))


def test_a_bomb_is_refused_before_it_is_unpacked(zipped):
    path = zipped({"conversations.json": b"[" + b" " * 8_000_000 + b"]"})

    with pytest.raises(UnreadableImport, match="not a real export"):
        read(path)


def test_a_member_beyond_the_limit_is_refused(zipped, monkeypatch):
    monkeypatch.setattr(files, "_MAX_UNZIPPED_BYTES", 10)

    with pytest.raises(UnreadableImport, match="larger than 0 MB: unpack it"):
        read(zipped({"conversations.json": b"[1, 2, 3, 4]"}), "chatgpt")


def with_sizes(path, *, size, packed=None):
    """The archive's first member, declared to be of other sizes than it is: local header and directory alike."""
    raw = bytearray(path.read_bytes())
    directory = raw.index(b"PK\1\2")
    for at in (18, directory + 20):
        if packed is not None:
            struct.pack_into("<L", raw, at, packed)
        struct.pack_into("<L", raw, at + 4, size)
    path.write_bytes(raw)
    return path


def test_a_bomb_that_lies_about_its_size_is_cut_and_refused(zipped):
    path = with_sizes(zipped({"conversations.json": b"[" + b" " * 32_000_000 + b"]"}), size=100)

    tracemalloc.start()
    with pytest.raises(UnreadableImport, match="cannot be unpacked: Bad CRC-32"):
        read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8_000_000


def test_a_bomb_that_lies_about_its_packed_size_is_refused(zipped):
    path = with_sizes(zipped({"conversations.json": b"[" + b" " * 8_000_000 + b"]"}), size=8_000_002, packed=4_000_000)

    with pytest.raises(UnreadableImport, match="not a real export"):
        read(path)


def test_an_encrypted_member_is_refused(samples, zipped):
    path = zipped({"conversations.json": (samples / "claude.json").read_bytes()})
    raw = bytearray(path.read_bytes())
    for at in (6, raw.index(b"PK\1\2") + 8):
        raw[at] |= 1
    path.write_bytes(raw)

    with pytest.raises(UnreadableImport, match=r"cannot be unpacked: .*encrypted"):
        read(path)


def test_an_unusual_packing_is_refused(samples, zipped):
    path = zipped({"conversations.json": (samples / "claude.json").read_bytes()}, compression=zipfile.ZIP_LZMA)

    with pytest.raises(UnreadableImport, match="packed by an unusual method"):
        read(path)


def test_a_truncated_zip_is_refused(samples, zipped):
    path = zipped({"conversations.json": (samples / "claude.json").read_bytes()})
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(UnreadableImport, match="a zip archive that cannot be opened"):
        read(path)


def test_a_document_in_the_zip_that_is_no_json_is_named(zipped):
    with pytest.raises(UnreadableImport, match=r"conversations\.json in .*export\.zip is not JSON"):
        read(zipped({"conversations.json": "[oops"}))


def test_a_member_without_a_name_is_passed_over(samples, zipped):
    path = zipped({"user.json": "{}", "conversations.json": (samples / "claude.json").read_bytes()})
    path.write_bytes(path.read_bytes().replace(b"user.json", b"\0ser.json"))

    assert detect(path) == "claude"


def test_a_folder_called_like_the_export_is_passed_over(samples, zipped):
    path = zipped({"conversations.json/": "", "conversations.json": (samples / "claude.json").read_bytes()})

    assert list(read(path)) == list(read(samples / "claude.json"))
