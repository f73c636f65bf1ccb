"""Loopback: what other users of the machine, and pages in a browser of its user, can do to a server without keys."""

import http.client
import stat
from pathlib import Path

import pytest

from engrain import Memory
from tests.support.engrain import EngrainServer

SAID = {"content": "I moved to Lisbon.", "role": "user"}


@pytest.fixture(scope="module")
def config_home(tmp_path_factory):
    return tmp_path_factory.mktemp("config")


@pytest.fixture(scope="module")
def server(tmp_path_factory, config_home):
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CONFIG_HOME", str(config_home))
    with EngrainServer(tmp_path_factory.mktemp("served") / "memory.db", asks_for_token=True) as server:
        yield server
    patch.undo()


@pytest.fixture
def token(server):
    return Path(server.told["token_file"]).read_text(encoding="ascii").strip()


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def status_of(server, *headers, method="GET", path="/v1/stats"):
    """The status of a request with just these headers, which may be there twice."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest(method, path, skip_host=any(name == "Host" for name, _ in headers))
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_who_can_read_the_token_is_let_in(server, token, config_home, process, monkeypatch):
    file = Path(server.told["token_file"])
    assert (file, stat.S_IMODE(file.stat().st_mode)) == (config_home / "engrain" / "token", 0o600)
    body = SAID
    for headers in ({}, bearer("et_guess"), bearer(token[:-1])):
        refused = server.ask("POST", "/v1/episodes", body, **headers)
        assert (refused.status, refused.json["code"]) == (401, "unauthenticated")
        assert server.ask("GET", "/metrics", **headers).status == 401
        assert server.ask("POST", "/mcp", {}, **headers).status == 401
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config_home))
    shown = process("token").out.strip()
    assert shown == token
    assert server.ask("POST", "/v1/episodes", body, **bearer(shown)).status == 201
    assert server.ask("GET", "/healthz").status == 200


def test_a_token_that_others_can_read_is_no_token(process, tmp_path):
    home = tmp_path / "exposed"
    assert process("token", XDG_CONFIG_HOME=str(home)).code == 0
    (home / "engrain" / "token").chmod(0o644)
    refused = process("token", XDG_CONFIG_HOME=str(home))
    assert (refused.code, "mode 644): remove it" in refused.err) == (2, True)


def test_keys_are_made_with_the_token_and_never_by_nobody(server, token, tmp_path):
    body = {"role": "admin"}
    assert server.ask("POST", "/v1/keys", body).status == 401
    made = server.ask("POST", "/v1/keys", body, **bearer(token))
    assert made.status == 201
    assert server.ask("GET", "/v1/stats", **bearer(made.json["secret"])).status == 200
    with EngrainServer(tmp_path / "open.db") as open_to_all:
        assert open_to_all.ask("GET", "/v1/stats").status == 200
        for path in ("/v1/keys", f"/v1/keys/{made.json['key']['id']}/revoke"):
            refused = open_to_all.ask("POST", path, body if path == "/v1/keys" else None)
            assert (refused.status, refused.json["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Sec-Fetch-Site", "cross-site")], 403),
        ([("Sec-Fetch-Site", "same-site")], 403),
        ([("Sec-Fetch-Site", "none")], 200),
        ([("Sec-Fetch-Site", "same-origin")], 200),
        ([("Origin", "http://127.0.0.1"), ("Origin", "https://evil.example")], 403),
        ([("Host", "127.0.0.1"), ("Origin", "http://127.0.0.1")], 200),
        ([("Host", "127.0.0.1"), ("Origin", "https://evil.example"), ("Origin", "http://127.0.0.1")], 403),
    ],
)
def test_pages_of_other_sites_get_nothing_not_even_by_a_link(server, token, headers, status):
    assert status_of(server, ("Authorization", f"Bearer {token}"), *headers) == status


def test_guesses_of_others_lock_out_no_valid_key(tmp_path):
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder="none") as memory:
        key = memory.keys.create(role="reader").secret
    wrong = key[:-1] + ("a" if key[-1] != "a" else "b")
    with EngrainServer(path, "--keys", SERVER__FAILURES_PER_MINUTE="2") as server:
        guesses = [server.ask("GET", "/v1/stats", **bearer(wrong)).status for _ in range(4)]
        assert guesses == [401, 401, 429, 429]
        assert server.ask("GET", "/v1/stats", **bearer(key)).status == 200


def test_a_database_that_others_can_read_is_warned_of(cli, database, caplog):
    assert cli("observe", "I moved to Lisbon.").code == 0
    database.chmod(0o644)
    warning = f"other users may read {database} (mode 644): chmod 600 {database}"
    assert f"warning: {warning}\n" in cli("stats").err
    assert warning in caplog.text
    database.chmod(0o600)
    assert "warning" not in cli("stats").err


@pytest.mark.parametrize("url", ["redis://:pa55@cache/0", "rediss://ana:pa55@cache", "mysql://ana:pa55@host/db"])
def test_a_password_in_a_url_is_never_shown(cli, monkeypatch, url):
    monkeypatch.setenv("ENGRAIN_REDIS__URL", url)
    for ran in (cli("config"), cli("config", "--db", url), cli("doctor", "--db", url), cli("stats", "--db", url)):
        assert "pa55" not in ran.out + ran.err
