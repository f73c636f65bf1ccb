"""Every command that the documentation shows runs as it stands, against one new memory a page."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.engrain import EngrainServer
from tests.support.processes import engrain

REPOSITORY = Path(__file__).parents[3]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```sh[ \t]*(?P<options>[^\n]*)\n(?P<code>.*?)^```[ \t]*$", flags=re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python no-run\n(?P<code>.*?)^```[ \t]*$", flags=re.MULTILINE | re.DOTALL)
# The address of `engrain serve`; a test has a server at another port.
SERVED = "http://127.0.0.1:8765"
# First words of the commands that cannot run here, and why.
NOT_RUN = {
    "git clone": "needs a network",
    "python -m venv": "sets up what this process has already",
    "pip install": "needs a network",
    "make": "runs the example or the tests, which the tests do by themselves",
    "cd deploy": "begins what needs Docker",
    "docker": "needs Docker",
    "claude plugin": "needs Claude Code",
    "engrain serve": "does not end; the server that answers here is started by the test",
}


def commands(page):
    """The commands of a page, continued lines as one, without comments at their ends."""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        assert not block["options"]
        for line in block["code"].replace("\\\n", " ").splitlines():
            command = re.sub(r"\s+#\s.*$", "", line)
            if command and not command.startswith(tuple(NOT_RUN)):
                yield command


def request(server, token, command):
    """Send what a `curl` command asks for to the server of the test, and return its status."""
    assert f"{SERVED}/" in command
    command = command.replace("$(engrain token)", token).replace("$KEY", token)
    words = shlex.split(command)
    url = next(word for word in words if word.startswith("http://"))
    headers = {words[i + 1].split(": ")[0]: words[i + 1].split(": ")[1] for i, word in enumerate(words) if word == "-H"}
    body = words[words.index("-d") + 1].encode() if "-d" in words else None
    method = "GET" if body is None else "POST"
    return server.ask(method, url.removeprefix(SERVED), body, **headers).status


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))], ids=lambda page: page.name)
def test_the_commands_of_a_page_run_one_after_the_other(tmp_path, page, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    environment = os.environ | {
        "HOME": str(tmp_path),
        "ENGRAIN_DB": str(tmp_path / "docs.db"),
        "ENGRAIN_EMBEDDING__MODEL": "none",
    }
    shown = list(commands(page))
    script = "\n".join(command for command in shown if not command.startswith("curl"))
    programs = {"engrain": engrain(), "python": [sys.executable]}  # whatever this system calls them
    functions = "\n".join(f'{name}() {{ {shlex.join(argv)} "$@"; }}' for name, argv in programs.items())
    ran = subprocess.run(
        ["/bin/sh", "-e", "-c", f"{functions}\n{script}"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    requests = [command for command in shown if command.startswith("curl")]
    if requests:
        with EngrainServer(environment["ENGRAIN_DB"], "--mem0", asks_for_token=True) as server:
            token = Path(server.told["token_file"]).read_text(encoding="ascii").strip()
            assert all(request(server, token, command) in {200, 201} for command in requests)
            run_with_server(page, server, token, tmp_path, monkeypatch)


def run_with_server(page, server, token, folder, monkeypatch):
    """Run the Python of a page that asks the server of the test."""
    for name, value in {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "KEY": token}.items():
        monkeypatch.setenv(name, value)
    for block in PYTHON.finditer(page.read_text(encoding="utf-8")):
        if SERVED in block["code"]:
            namespace = {"__name__": "__main__"}
            exec(block["code"].replace(SERVED, server.address), namespace)
            namespace["client"].client.close()  # mem0's client has no method for it


def test_what_is_not_run_is_shown_somewhere():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [words for words in NOT_RUN if f"\n{words}" not in text] == []
