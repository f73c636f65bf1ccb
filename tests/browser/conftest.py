"""Fixtures of the tests of the page: its packages, and a server. What HTTP answers is the same on both databases."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser.worlds import fill
from tests.support.engrain import EngrainServer

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"


def run(*command, **environment):
    """Return what a command in web/ prints; it has to end well."""
    ran = subprocess.run(
        command, cwd=WEB, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def install_packages():
    """Install the packages that web/package-lock.json pins, unless they are there."""
    for program in ("npm", os.environ.get("CHROMIUM", "chromium-headless-shell")):
        if shutil.which(program) is None:
            raise FileNotFoundError(
                f"needs {program} on the PATH; make test-page installs the browser, CHROMIUM names another"
            )
    lock, installed = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")


@pytest.fixture(scope="session")
def packages():
    """The packages of the page, installed."""
    install_packages()


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """A file that says what a running server holds, as the tests in web/test read it."""
    folder = tmp_path_factory.mktemp("page")
    location = str(folder / "memory.db")
    known = fill(location)
    with EngrainServer(location, "--keys") as running:
        file = folder / "world.json"
        file.write_text(json.dumps({"url": running.address, **known}))
        yield file
