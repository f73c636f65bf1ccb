"""Fixtures of the packages: the wheel and the source archive of `python -m build`, and an empty environment."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.folders import use_disk
from tests.support.installs import install

use_disk()  # what uv installs are links to its cache

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
EXAMPLE = """
import engrain
from engrain import Memory

with Memory.open("agent.db") as memory:
    ana = memory.agent("assistant", session="monday")
    ana.observe("I moved to Lisbon in May and still hate early flights.", speaker="Ana")
    print(ana.recall("Which city is Ana's home?")[0].memory.content)
print(engrain.__file__)
"""


def run(*command, folder, **variables):
    """Return what a command prints, in a folder outside the repository and without settings of this machine."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ENGRAIN_", "PYTHON", "SSL_"))}
    own |= {"UV_CONSTRAINT": str(CONSTRAINTS), "UV_SYSTEM_CERTS": "1"}
    own["PIP_NO_COMPILE"] = "1"  # most of what is installed is never loaded here
    own["PIP_CONSTRAINT"] = str(CONSTRAINTS)  # make gives it as a path of the folder that it runs in
    ran = subprocess.run(
        [*map(str, command)], cwd=folder, env=own | variables, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def tracked_files():
    """Paths of the repository that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.rstrip("\0").split("\0"))


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the source archive, and of the wheel that is built from it alone."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, folder=folder)
    return folder


@pytest.fixture(scope="session")
def wheel(built):
    [path] = built.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def source_archive(built):
    [path] = built.glob("*.tar.gz")
    return path


@pytest.fixture(scope="session")
def place():
    """A folder that every user may enter, for what is installed one after the other into one environment."""
    with tempfile.TemporaryDirectory(prefix="engrain-packages-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def wheel_run(place, wheel):
    """What the wheel installs into an empty environment, at the pinned versions, and what it says there."""
    environment, home = place / "opt" / "engrain", place / "home"
    shutil.copytree(ROOT / "examples", home / "examples")
    run(sys.executable, "-m", "venv", environment, folder=place)
    install(wheel, python=environment / "bin/python", constraints=CONSTRAINTS)
    where = {"folder": home, "HOME": str(home), "PATH": f"{environment / 'bin'}:/usr/bin:/bin"}
    run("engrain", "import", "examples/two_friends.jsonl", **where)
    return {
        "files": installed_files(environment),
        "version": run("engrain", "--version", **where),
        "recall": run("engrain", "recall", "How much did the cedar for the canoe cost?", "--limit", "3", **where),
        "example": run("python", "-I", "-c", EXAMPLE, **where).splitlines(),
    }


@pytest.fixture(scope="session")
def archive_run(place, source_archive, wheel_run):
    """The same of the source archive, in place of the wheel."""
    del wheel_run  # has made the environment
    environment = place / "opt" / "engrain"
    pip = environment / "bin/pip"
    run(pip, "install", "--quiet", "--no-deps", "--force-reinstall", source_archive, folder=place)
    return {
        "files": installed_files(environment),
        "version": run(environment / "bin/engrain", "--version", folder=place),
    }


def installed_files(environment):
    """The package's files in an environment, each with its hash, as recorded by what has installed them."""
    [record] = environment.glob("lib/*/site-packages/engrain-*.dist-info/RECORD")
    lines = record.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line.startswith("engrain/") and "__pycache__" not in line}
