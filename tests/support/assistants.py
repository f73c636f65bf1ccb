"""A coding assistant as its hooks meet it: a project, a database, and commands that get its events."""

import contextlib
import json
import os
import sqlite3
import subprocess

from engrain import Memory
from tests.support import assistant_events as events
from tests.support.assistant_events import SESSION, Transcript
from tests.support.commands import PATIENCE_S
from tests.support.processes import engrain


class Assistant:
    """Calls hooks as an assistant does, in a project of its own."""

    def __init__(self, folder, database):
        self.folder = folder
        self.database = database
        self.project = folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("ENGRAIN_", "CLAUDE_"))},
            "ENGRAIN_DB": str(database),
            "ENGRAIN_EMBEDDING__MODEL": "none",
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def hook(self, event, payload, client="claude-code", *, cwd=None, **variables):
        """The answer of a hook, which never fails."""
        ran = subprocess.run(
            engrain("hook", event, "--client", client),
            input=payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
            cwd=cwd or self.project,
            env={**self.environment, **variables},
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        self.errors = ran.stderr.decode()
        return json.loads(ran.stdout or b"{}")

    def events(self, name="a.jsonl", session=SESSION):
        return events.claude_code(self.project, self.folder / "transcripts" / name, session)

    def transcript(self, name="a.jsonl", session=SESSION):
        return Transcript(self.folder / "transcripts" / name, session)

    def memory(self):
        """The memory, opened without a model."""
        return Memory.open(self.database, settings={"embedding": {"model": "none"}})

    def episodes(self):
        """Every turn that is stored, oldest first."""
        with self.memory() as memory:
            return sorted(memory.agent().list("episode", limit=500), key=lambda turn: (turn.session, turn.turn))

    def turns(self):
        """Role and text of every turn that is stored, oldest first."""
        return [(episode.role, episode.content) for episode in self.episodes()]

    def sessions(self):
        """The sessions of all turns."""
        return {episode.session for episode in self.episodes()}

    def tags(self):
        """The tags of all turns."""
        return {tag for episode in self.episodes() for tag in episode.tags}

    @property
    def states(self):
        """The folder of the states of sessions."""
        return self.folder / "state" / "engrain" / "hooks"

    @property
    def waiting(self):
        """The files of the turns that could not be stored yet, in their order."""
        return sorted((self.states / "spool").glob("*/*.json"))

    @contextlib.contextmanager
    def busy(self):
        """Another process writes, and does not end."""
        other = sqlite3.connect(self.database, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.rollback()
            other.close()

    @property
    def log(self):
        path = self.states / "hooks.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def context_of(answer):
    return answer.get("hookSpecificOutput", answer).get("additionalContext") or answer.get("additional_context", "")
