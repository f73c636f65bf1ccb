"""Forged backups: whoever has the key of one agent brings in nothing that the agent could not have written itself."""

import gzip
import io
import secrets

import pytest

from engrain import Memory, config
from engrain.errors import InvalidInput, UnusableBackup
from engrain.portability.encryption import Cipher
from engrain.portability.sealed_files import SealedWriter, open_sealed
from engrain.portability.signing import SigningConfig, SigningKey
from engrain.storage.backup.tables import BACKED_UP
from tests.support.backups import (
    EXTRA_ROWS,
    TIME,
    add_rows,
    everything,
    fill,
    forged,
    memory_in,
    rows,
    said,
)
from tests.support.one_call import OneCall

pytestmark = pytest.mark.req("G13", "N12")
POOL = {"tenant_id": "default", "name": "board", "created_at": TIME, "metadata": {}}
EVENT = {
    **dict.fromkeys(("request_id", "memory_id", "run_id")),
    "tenant_id": "default",
    "id": "0190-event",
    "event_type": "fact_confirmed",
    "scope": "global",
    "actor": "ceo",
    "payload": {},
    "created_at": TIME,
}
RUN = {
    **dict.fromkeys("finished_at model prompt_version error".split()),
    "tenant_id": "default",
    "id": "0190-run",
    "kind": "consolidation",
    "agent": "sales",
    "user_id": "",
    "status": "done",
    "worker": "w",
    "lease_until": TIME,
    "started_at": TIME,
    "episode_ids": [],
    "report": {},
}
TOMBSTONE = {
    "tenant_id": "default",
    "id": "0190-victim",
    "kind": "fact",
    "scope": "ceo",
    "digest": "d",
    "erased_at": TIME,
}
FORGERIES = {
    "a pool": {"pools": [POOL], "pool_members": [{**POOL, "pool": "board", "agent": "sales", "joined_at": TIME}]},
    "an event of another": {"memory_events": [EVENT]},
    "an event of another's memory": {"memory_events": [{**EVENT, "actor": "sales", "memory_id": "0190-victim"}]},
    "an event of another's run": {"memory_events": [{**EVENT, "actor": "sales", "run_id": "0190-ceo"}]},
    "a run of another": {"runs": [{**RUN, "agent": "ceo"}]},
    "a tombstone of another": {"tombstones": [TOMBSTONE]},
    "a setting of the tenant": {"memory_metadata": [{"tenant_id": "default", "key": "plan", "value": "gold"}]},
}


WITHOUT_KEYS = {"access_keys": []}


def with_rows(lines, added):
    """The lines of a backup with more rows, each with the columns of its table."""
    for table, more in added.items():
        at = lines.index({"begin": table}) + 1
        shaped = [{column: row[column] for column in BACKED_UP[table]} for row in more]
        lines = [*lines[:at], *shaped, *lines[at:]]
    return lines


def resigned(file, original):
    """A sealed file with the signature of another one, which is all that a forger has."""
    with open_sealed(original) as whole:
        signature = whole.signature

    class Stolen(SigningKey):
        def sign(self, _digest):
            return signature

    with gzip.open(file) as stream:
        lines = stream.readlines()
    with file.open("w+b") as stream:
        writer = SealedWriter(stream, file, Stolen(b""))
        for line in lines:
            writer.write(line)
        writer.seal()
    return file


@pytest.fixture
def sales(attacked, tmp_path):
    """The key of one agent, a backup that it made, and the key of an admin of the tenant."""
    attacked.memory.agent("sales").remember("ACME", subject="customer", predicate="is")
    key = attacked.key("sales")
    return key, attacked.backup(tmp_path / "sales.gz", key), attacked.key()


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_backup_that_was_edited_is_refused(attacked, sales, tmp_path, forgery):
    key, file, admin = sales
    evil = forged(tmp_path / "evil.gz", with_rows(said(file), FORGERIES[forgery]))
    before = everything(attacked.memory)
    answer = attacked.restore(evil, key)
    assert (answer.status_code, answer.json()["code"]) == (422, "unusable_backup")
    assert "not signed" in answer.json()["detail"]
    answer = attacked.restore(resigned(evil, file), key)
    assert (answer.status_code, answer.json()["code"]) == (422, "unusable_backup")
    assert "edited after it was signed" in answer.json()["detail"]
    answer = attacked.restore(evil, key, untrusted=True)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    answer = attacked.restore(evil, admin, untrusted=True)  # of an agent it has no such rows, whoever asks
    assert (answer.status_code, answer.json()["code"]) == (422, "unusable_backup")
    assert everything(attacked.memory) | WITHOUT_KEYS == before | WITHOUT_KEYS  # which note when they were used
    assert attacked.restore(file, key).json()["present"] == 1


def test_a_backup_of_another_installation_needs_an_admin_who_says_so(attacked, sales, tmp_path):
    key, _, admin = sales
    with memory_in("sqlite", tmp_path) as memory:
        memory.agent("sales").remember("Globex", subject="rival", predicate="is")
        memory.parts.settings.backup.__dict__["signing_key"] = None  # so that it makes one of its own
        memory.backup(tmp_path / "foreign.gz", agent="sales")
    file = tmp_path / "foreign.gz"
    refused = attacked.restore(file, key)
    assert refused.status_code == 422
    for named in ("signed by another installation", "ENGRAIN_BACKUP__SIGNING_KEY_FILE", "bound to no agent"):
        assert named in refused.json()["detail"]
    assert "?untrusted=true" in attacked.restore(file, admin).json()["detail"]
    assert attacked.restore(file, key, untrusted=True).status_code == 403
    assert attacked.restore(file, admin, untrusted=True).json()["added"]["facts"] == 1


def test_a_key_of_one_user_restores_nothing(attacked, sales):
    _, file, _ = sales
    key = attacked.key(user="ana")
    for wish in ({}, {"untrusted": True}, {"agent": "sales"}):
        answer = attacked.restore(file, key, **wish)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.fixture
def two_agents(attacked, tmp_path):
    """The lines of an agent's backup, and the rows of its tenant, where another agent has something in every table."""
    memory = attacked.memory
    known = {table: own for table, own in EXTRA_ROWS.items() if table not in {"jobs", "access_keys", "runs"}}
    [session] = known["sessions_consolidations"]
    known["sessions_consolidations"] = [{**session, "scope": "bruno"}]
    add_rows(OneCall(memory.parts.store), known)
    fill(memory, "ana", tenant="acme")
    mine = said(attacked.backup(tmp_path / "ana.gz", attacked.key("ana", tenant="acme")))
    fill(memory, "bruno", tenant="acme")
    memory.backup(tmp_path / "acme.gz", tenant="acme")
    return mine, {table: rows(tmp_path / "acme.gz", table) for table in BACKED_UP}


def test_no_table_of_an_agents_backup_takes_a_row_of_another_agent(attacked, two_agents, tmp_path):
    """Table by table: one without a rule would let in what it is given here."""
    mine, known = two_agents
    admin = attacked.key(tenant="acme")
    before = everything(attacked.memory)
    mine_too = [str(row) for row in mine]
    for table in BACKED_UP:
        others = [row for row in known[table] if str(row) not in mine_too]
        assert others, f"nobody else has a row of {table} here"
        if table == "entities":  # which a tenant shares: one that stands for another is what could lead elsewhere
            others = [{**others[0], "id": "0190-entity", "metadata": {"merged_into": row["id"]}} for row in others]
        for row in others:
            evil = forged(tmp_path / "evil.gz", with_rows(mine, {table: [row]}))
            answer = attacked.restore(evil, admin, agent="ana", untrusted=True)
            assert answer.status_code == 422, (table, row)
    assert everything(attacked.memory) | WITHOUT_KEYS == before | WITHOUT_KEYS


def test_a_backup_of_an_agent_holds_nothing_of_pools_and_of_others(attacked, tmp_path):
    memory = attacked.memory
    sales, ceo = memory.agent("sales"), memory.agent("ceo")
    ceo.pools.create("board")
    sales.pools.create("team")
    shared = sales.remember("the offer", subject="team", predicate="sends", scope="pool:team")
    rule = sales.rules.add("Answer within a day.", scope="global")
    ceo.rules.mark_helpful(rule.id)
    sales.rules.mark_helpful(rule.id)
    ceo.confirm(sales.remember("ACME", subject="customer", predicate="is", scope="global").id)
    file = attacked.backup(tmp_path / "sales.gz", attacked.key("sales"))
    held = {table: rows(file, table) for table in BACKED_UP}
    assert [held[table] for table in ("memory_metadata", "pools", "pool_members")] == [[], [], []]
    assert {row["actor"] for row in held["memory_events"]} == {"sales"}
    assert {row["agent"] for row in held["rule_applications"]} == {"sales"}
    assert shared.id not in str(held)
    assert "ceo" not in str(held)


def test_an_undo_takes_back_nothing_that_its_caller_does_not_see(attacked, tmp_path):
    """Even of a run that says so: here an admin believed a file."""
    memory = attacked.memory
    ceo, sales = memory.agent("ceo"), memory.agent("sales")
    fact = ceo.remember("4711", subject="safe", predicate="code", scope="ceo")
    rule = ceo.rules.add("Tell nobody.", scope="ceo")
    turn = ceo.observe("The code is 4711.", session="s")
    sales.remember("ACME", subject="customer", predicate="is")
    admin = attacked.key()
    lines = said(attacked.backup(tmp_path / "all.gz", admin))
    created = {"run_id": RUN["id"], "actor": "sales", "scope": "sales"}
    consolidated = {"status": ["pending", "consolidated"]}
    events = [
        {**EVENT, **created, "id": "0190-0", "event_type": "run_started", "memory_id": RUN["id"]},
        {**EVENT, **created, "id": "0190-a", "event_type": "fact_created", "memory_id": fact.id},
        {**EVENT, **created, "id": "0190-b", "event_type": "rule_created", "memory_id": rule.id},
        {**EVENT, **created, "id": "0190-c", "event_type": "episode_consolidated", "memory_id": turn.id}
        | {"payload": consolidated},
    ]
    run = {**RUN, "episode_ids": [turn.id]}
    evil = forged(tmp_path / "evil.gz", with_rows(lines, {"runs": [run], "memory_events": events}))
    assert attacked.restore(evil, admin, untrusted=True).status_code == 200
    before = everything(memory)
    undone = attacked.client.post(f"/v1/runs/{run['id']}/undo", headers=attacked.key("sales"))
    assert undone.status_code == 200, undone.text
    assert undone.json()["restored"] == []
    after = everything(memory)
    for table in ("facts", "rules", "episodes", "sessions_consolidations"):
        assert after[table] == before[table]
    assert ceo.get(fact.id).validity == "active"


def test_a_dry_run_tells_nothing_of_another_tenant(attacked, sales, tmp_path):
    victim = attacked.memory.agent("vera", tenant="victim")
    erased, kept, key = (victim.remember(text, subject=text, predicate="is") for text in ("gone", "kept", "key"))
    victim.erase([erased.id])
    _, file, admin = sales
    lines = said(file)
    header = {**lines[0], "tenant": "victim", "agent": "vera"}
    fact = rows(file, "facts")[0]
    answers = []
    for id_ in (erased.id, kept.id, key.id[:-1] + "0"):
        made = {**fact, "id": id_, "tenant_id": "victim", "agent": "vera", "scope": "global"}
        empty = [line for line in lines if "tenant_id" not in line]
        evil = forged(tmp_path / "evil.gz", with_rows([header, *empty[1:]], {"facts": [made]}))
        wish = {"untrusted": True, "dry_run": True}
        answers.append(attacked.restore(evil, admin, agent="probe", **wish).json())
    told = [{name: value for name, value in answer.items() if name != "sha256"} for answer in answers]
    assert told[0] == told[1] == told[2]
    assert (told[0]["erased"], told[0]["added"]["facts"]) == (0, 1)


@pytest.mark.parametrize("mode", [0o644, 0o640])
def test_a_key_that_others_can_read_signs_nothing(tmp_path, mode):
    config = SigningConfig(location=str(tmp_path / "memory.db"))
    made = config.load_key()
    [file] = tmp_path.iterdir()
    assert (file.name, file.stat().st_mode & 0o777) == ("memory.db.backup-key", 0o600)
    assert config.load_key() == made
    file.chmod(mode)
    with pytest.raises(InvalidInput, match="chmod 600"):
        config.load_key()


def secret(tmp_path, which):
    """The setting that encrypts backups, by a passphrase or a key file."""
    if which == "passphrase":
        return {"passphrase": "correct horse battery staple"}
    file = tmp_path / "encryption-key"
    file.write_bytes(b"k" * 32)
    file.chmod(0o600)
    return {"encryption_key_file": str(file)}


@pytest.mark.parametrize("which", ["passphrase", "key file"])
def test_an_encrypted_backup_shows_nothing_and_any_change_is_seen(tmp_path, which):
    location, file = tmp_path / "memory.db", tmp_path / "memory.backup"
    settings = {"backup": secret(tmp_path, which), "embedding": {"model": "none"}}
    with Memory.open(location, settings=config.load(settings)) as memory:
        for number in range(200):
            memory.agent("ana").observe(f"Turn {number}: {secrets.token_hex(800)}")
        memory.backup(file)
        memory.backup(file)  # replaces an encrypted one
        assert memory.restore(file).present == 200
        whole = file.read_bytes()
        assert len(whole) > 2 * 65_552  # several chunks
        assert b"\x1f\x8b" not in whole[:64]
        for place in (30, 60, 70_000, len(whole) - 1):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(UnusableBackup, match="decrypted"):
                memory.restore(file)
        chunk = 65_536 + 16
        head = len(whole) % chunk if len(whole) % chunk < 60 else 44
        moved = whole[:head] + whole[head + chunk : head + 2 * chunk] + whole[head : head + chunk]
        for other in (whole[:-1], whole[: head + chunk], moved + whole[head + 2 * chunk :], whole + b"x"):
            file.write_bytes(other)
            with pytest.raises(UnusableBackup):
                memory.restore(file)
        file.write_bytes(whole)
    with Memory.open(location, embedder="none") as memory, pytest.raises(UnusableBackup, match="BACKUP__PASSPHRASE"):
        memory.restore(file)
    other = {"backup": {"passphrase": "another one of that length"}, "embedding": {"model": "none"}}
    with Memory.open(location, settings=config.load(other)) as memory, pytest.raises(UnusableBackup):
        memory.restore(file)
    with Memory.open(tmp_path / "new.db", settings=config.load(settings)) as memory:
        assert memory.restore(file).memories == 200


def test_an_encrypted_stream_is_written_and_read_in_chunks(tmp_path):
    cipher = Cipher(kind=b"k", secret=b"k" * 32)
    sizes = []

    class Sink(io.BytesIO):
        def write(self, data):
            sizes.append(len(data))
            return super().write(data)

    sink = Sink()
    writer = cipher.encrypt(sink)
    for _ in range(40):
        writer.write(b"x" * 50_000)
    writer.finish()
    assert max(sizes) == 65_536 + 16
    sizes.clear()

    class Source(io.BytesIO):
        def read(self, size=-1):
            sizes.append(size)
            return super().read(size)

    plain = cipher.decrypt(Source(sink.getvalue()), tmp_path)
    assert plain.read(2_000_001) == b"x" * 2_000_000
    assert max(sizes) == 65_536 + 16
    plain.seek(1_999_999)
    assert plain.read() == b"x"
