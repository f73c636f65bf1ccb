"""The page of the server, without a browser: its files, its policy, and the one-time key of `engrain ui`."""

import gzip
import json
import re
import signal
from subprocess import PIPE

import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support import forked
from tests.support.asgi import serving
from tests.support.engrain import request
from tests.support.processes import ROOT, Forked, without_settings


@pytest.fixture
def address(database):
    with (
        Memory.open(database, settings={"embedding": {"model": "none"}}) as memory,
        serving(create_app(memory, gate=Gate(memory, keys_required=True))) as served,
    ):
        yield served


def test_the_page_is_open_to_all_and_holds_no_data(address):
    page = request(address, "GET", "/")
    assert page.status == 200
    assert page.headers["Content-Type"].startswith("text/html")
    named = re.findall(r'(?:src|href)="\./([^"]+)"', page.body.decode())
    assert {name.rpartition(".")[2] for name in named} >= {"js", "css", "svg"}
    for name in named:
        assert request(address, "GET", f"/{name}").status == 200
    assert request(address, "GET", "/v1/stats").status == 401
    assert request(address, "GET", "/page/secret.js").status == 404


def test_nothing_is_loaded_from_elsewhere_and_nobody_frames_it(address):
    policy = request(address, "GET", "/").headers["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy
    assert {place for rule in rules.values() for place in rule.split()} <= {"'none'", "'self'", "'script'"}


@pytest.mark.parametrize(
    ("path", "mode", "destination", "status"),
    [
        ("/", "navigate", "document", 200),
        ("/", "navigate", "iframe", 403),
        ("/", "no-cors", "image", 403),
        ("/page/page.js", "no-cors", "script", 403),
        ("/v1/caller", "navigate", "document", 403),
    ],
)
def test_a_link_on_another_site_opens_the_page_and_nothing_else(address, path, mode, destination, status):
    fetched = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": destination}
    assert request(address, "GET", path, **fetched).status == status


def test_files_are_sent_small_and_once(address):
    plain = request(address, "GET", "/page/page.js")
    packed = request(address, "GET", "/page/page.js", **{"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) / 2
    known = request(address, "GET", "/page/page.js", **{"If-None-Match": plain.headers["ETag"]})
    assert (known.status, known.body) == (304, b"")
    assert request(address, "HEAD", "/").body == b""


def test_the_address_of_ui_opens_once_and_its_token_is_asked_for(database):
    asked = ["ui", "--no-open", "--json", "--db", database]
    environment = without_settings() | {"ENGRAIN_EMBEDDING__MODEL": "none"}
    started = Forked(forked.command(asked, folder=ROOT, environment=environment), stdout=PIPE)
    try:
        page = json.loads(started.stdout.readline())["page"]
        address, key = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/#once=(once_\S+)", page).groups()
        wrong = request(address, "POST", "/page/sign-in", Authorization="Bearer once_guess")
        token = request(address, "POST", "/page/sign-in", Authorization=f"Bearer {key}")
        again = request(address, "POST", "/page/sign-in", Authorization=f"Bearer {key}")
        assert (wrong.status, token.status, again.status) == (401, 200, 401)
        assert request(address, "GET", "/v1/caller").status == 401
        allowed = request(address, "GET", "/v1/caller", Authorization=f"Bearer {token.body.decode()}")
        assert allowed.json["key_role"] == "admin"
        started.send_signal(signal.SIGTERM)
        assert started.wait(60) == 0
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


def test_a_server_without_ui_exchanges_nothing(address):
    assert request(address, "POST", "/page/sign-in", Authorization="Bearer once_guess").status == 404
