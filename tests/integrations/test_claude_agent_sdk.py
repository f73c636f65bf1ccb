"""The session store of the Claude Agent SDK: the SDK's own contracts, and the program of its page."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.installs import install
from tests.support.postgres import server

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "claude-agent-sdk.md"
SESSION = "0191b5a0-0000-7000-8000-000000000001"


@pytest.fixture(scope="module")
def sdk(tmp_path_factory):
    """A folder with the SDK alone; what it needs is in the environment of these tests."""
    folder = tmp_path_factory.mktemp("sdk")
    install("--no-deps", "--target", folder, "claude-agent-sdk", constraints=HERE / "constraints.txt")
    return folder


def run(sdk, *arguments, cwd, **environment):
    given = {**os.environ, "PYTHONPATH": str(sdk), **environment}
    ran = subprocess.run([sys.executable, *arguments], cwd=cwd, env=given, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_all_contracts_of_the_sdk_hold(sdk, tmp_path, kind):
    location = str(tmp_path / "memory.db") if kind == "sqlite" else server().new_database(has_schema=True)
    # A store to look for optional methods, and one for each of 14 contracts, twice.
    assert run(sdk, HERE / "contracts" / "claude_contracts.py", location, cwd=tmp_path) == "30 stores\n"


def test_the_program_of_the_page_takes_sessions_over(sdk, tmp_path):
    code = re.search(r"^```python no-run\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    work = tmp_path / "work"
    work.mkdir()
    project = tmp_path / "claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(work.resolve()))
    project.mkdir(parents=True)
    said = [("user", "Which port?"), ("assistant", "The server uses port 7321.")]
    lines = [
        {
            "type": role,
            "uuid": f"0191b5a0-0000-7000-8000-00000000001{number}",
            "parentUuid": None if number == 0 else f"0191b5a0-0000-7000-8000-00000000001{number - 1}",
            "sessionId": SESSION,
            "timestamp": f"2026-11-01T10:00:0{number}.000Z",
            "cwd": str(work),
            "message": {"role": role, "content": content},
        }
        for number, (role, content) in enumerate(said)
    ]
    (project / f"{SESSION}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (work / "sessions.py").write_text(code)
    expected = f"Which port?: 2 messages\n{SESSION}: The server uses port 7321.\n"
    for _ in range(2):  # a second import adds nothing
        told = run(
            sdk, "sessions.py", cwd=work, CLAUDE_CONFIG_DIR=str(tmp_path / "claude"), ENGRAIN_EMBEDDING__MODEL="none"
        )
        assert told == expected
