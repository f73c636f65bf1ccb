"""The steps of deploy/Dockerfile, taken one after the other in an empty folder, and what they make on PostgreSQL.

Without Docker, the image is this machine with other folders in place of the paths that the steps name.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from subprocess import PIPE

import pytest
import yaml
from psycopg.conninfo import conninfo_to_dict

from tests.packages.conftest import CONSTRAINTS, ROOT, run
from tests.support.installs import install
from tests.support.ports import free_port
from tests.support.postgres import PROGRAMS, server

DEPLOY = ROOT / "deploy"
GIVEN = {"ENGRAIN_PASSWORD": "a 'quoted' $password", "ENGRAIN_BACKUP_KEY": "0123456789abcdef" * 4}


def instructions():
    """The steps of the Dockerfile, continued lines as one."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]


class Image:
    """What the steps of the Dockerfile make: folders in place of its paths, variables, commands."""

    def __init__(self, folder, wheel):
        self._folder = folder
        self._wheel = wheel
        self._arguments = {}
        self.variables = {"PATH": os.environ["PATH"]}
        self.commands = {}
        self.user = None
        (folder / "data").mkdir()
        for step, words in instructions():
            getattr(self, f"_{step.lower()}", lambda _: None)(words)

    def place(self, text):
        """A text with the folders of this image in place of those of a container."""
        return re.sub(r"(?<![\w.])/(src|opt|data)\b", rf"{self._folder}/\1", text)

    def _arg(self, words):
        name, _, value = words.partition("=")
        self._arguments[name] = value

    def _env(self, words):
        for word in shlex.split(words):
            name, _, value = word.partition("=")
            self.variables[name] = self.place(value).replace("$PATH", self.variables["PATH"])

    def _copy(self, words):
        *sources, target = shlex.split(words)
        if sources[0].startswith("--from="):
            assert self.place(target) == self.place(sources[1])  # an environment stays where it was made
            return
        ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
        for source in sources:
            assert f"!{source}" in ignored
            into = self._folder / "src" / target / ("" if target == source else source)
            into.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, into, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, into)

    def _run(self, words):
        if words.startswith("useradd"):
            assert "--create-home --home-dir /data" in words
            return
        wanted = f"engrain[{self._arguments['EXTRAS']}] @ {self._wheel.as_uri()}"
        install(wanted, python=self.place("/opt/engrain/bin/python"), constraints=CONSTRAINTS)
        script = self.place(words).replace("python -m venv", f"{shlex.quote(sys.executable)} -m venv")
        run("/bin/sh", "-ec", script, folder=self._folder / "src", **self._arguments)

    def _user(self, words):
        self.user = int(words)

    def _entrypoint(self, words):
        self.commands["entry"] = json.loads(words)

    def _cmd(self, words):
        self.commands["default"] = json.loads(words)

    def _healthcheck(self, words):
        self.commands["health"] = json.loads(words[words.index("[") :])


@pytest.fixture(scope="module")
def image(place, wheel, archive_run):
    """The image; what pip would install beside engrain is in the environment already, at the pinned versions."""
    del archive_run
    made = Image(place, wheel)
    if os.getuid() == 0:
        os.chown(made.place("/data"), made.user, made.user)
    return made


@pytest.fixture(scope="module")
def container(image):
    """Variables of the service `engrain` of the compose file, on a database that deploy/postgres has made."""
    at = conninfo_to_dict(server().url)
    of_superuser = {"PGHOST": at["host"], "PGPORT": at["port"], "PGPASSWORD": at["password"]}
    make = DEPLOY / "postgres" / "memories.sh"
    variables = GIVEN | of_superuser | {"POSTGRES_USER": at["user"], "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    subprocess.run(["/bin/sh", make], env=variables, check=True)
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    variables = {
        name: image.place(re.sub(r"\$\{(\w+):.*\}", lambda given: GIVEN[given[1]], value)).replace(
            "@postgres/", f"@{at['host']}:{at['port']}/"
        )
        for name, value in compose["services"]["engrain"]["environment"].items()
    }
    yield image.variables | variables
    server().psql("postgres", "DROP DATABASE memories WITH (FORCE)")
    server().psql("postgres", "DROP ROLE engrain")


def start(image, variables, *command):
    """Start a command with the variables of the container alone; as its user, unless Python is closed to others."""
    is_open = all(folder.stat().st_mode & 0o001 for folder in Path(sys.base_prefix, "bin").parents)
    who = {"user": image.user, "group": image.user, "extra_groups": []} if os.getuid() == 0 and is_open else {}
    return subprocess.Popen(command, env=variables, cwd=image.place("/data"), stdout=PIPE, text=True, **who)


def test_the_service_of_the_compose_file_answers_on_its_database_and_stops_well(image, container):
    entry, default = image.commands["entry"], image.commands["default"]
    creation = start(image, container, *entry, "keys", "create", "--role", "admin")
    secret = re.search(r"ek_\S+", creation.communicate()[0])[0]
    assert creation.returncode == 0
    port = free_port()
    serving = start(image, container | {"ENGRAIN_SERVER__PORT": str(port)}, *entry, *default, "--json")
    try:
        told = json.loads(serving.stdout.readline())
        assert told["keys"] is True
        health = [word.replace("8765", str(port)) for word in image.commands["health"]]
        probe = start(image, container, *health)
        probe.communicate()
        assert probe.returncode == 0
        base, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {secret}"}
        with urllib.request.urlopen(f"{base}/") as page:
            assert b"<script" in page.read()
        for path, body in (
            ("episodes", {"content": "I moved to Lisbon in May.", "speaker": "Ana"}),
            ("backup", None),
            ("recall", {"query": "Which city is Ana's home?"}),
        ):
            sent = None if body is None else json.dumps(body).encode()
            asked = urllib.request.Request(f"{base}/v1/{path}", sent, headers | {"Content-Type": "application/json"})
            with urllib.request.urlopen(asked) as answer:
                content = answer.read()
        assert "Lisbon" in json.loads(content)["hits"][0]["memory"]["content"]
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(60) == 0
    finally:
        serving.kill()
        serving.communicate()


def test_the_role_of_the_compose_file_is_bound_by_row_level_security(container):
    del container
    [row] = server().psql("postgres", "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'engrain'")
    assert row == (False, False)
