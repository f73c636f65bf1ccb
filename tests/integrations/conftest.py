import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.folders import use_disk

use_disk()  # what uv installs are links to its cache

TYPESCRIPT = Path(__file__).with_name("typescript")


@pytest.fixture(scope="session")
def node(tmp_path_factory):
    """Runs a script of typescript/ on one JSON document, with the packages that its package.json pins."""
    if shutil.which("npm") is None:
        pytest.fail("needs Node.js 18 or later, with npm, on the PATH")
    folder = tmp_path_factory.mktemp("typescript")
    for file in TYPESCRIPT.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    install = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    installed = subprocess.run(install, cwd=folder, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr

    def run(script, document):
        """Return what a script prints."""
        read = json.dumps(document)
        ran = subprocess.run(["node", script], cwd=folder, input=read, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return run
