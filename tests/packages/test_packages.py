"""The wheel and the source archive hold what they should, and run in an empty environment without the repository."""

import re
import sys
import tarfile
import zipfile
from email import message_from_bytes

import pytest

import engrain
from tests.packages.conftest import EXAMPLE, ROOT, run, tracked_files

# What is of use in the repository alone: how changes are checked there, and what git leaves out.
OF_THE_REPOSITORY = {".ci/run"}


def test_the_source_archive_holds_what_git_knows(source_archive):
    prefix = f"engrain-{engrain.__version__}/"
    with tarfile.open(source_archive) as archive:
        names = {name.removeprefix(prefix) for name in archive.getnames()}
    assert names == tracked_files() - OF_THE_REPOSITORY | {"PKG-INFO"}


def test_the_wheel_holds_the_package_alone(wheel):
    of_the_package = {name.removeprefix("src/") for name in tracked_files() if name.startswith("src/")}
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith("/METADATA")]
        described = message_from_bytes(archive.read(metadata))
    assert {name for name in names if ".dist-info/" not in name} == of_the_package
    assert {"engrain/interfaces/web/index.html", "engrain/engines/embedders/minilm/model.onnx"} <= set(names)
    assert (described["Version"], described["License-Expression"]) == (engrain.__version__, "Apache-2.0")
    assert described.get_payload().strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()


def test_no_package_names_a_folder_of_this_machine(source_archive):
    with tarfile.open(source_archive) as archive:
        named = [
            member.name
            for member in archive.getmembers()
            if member.isfile() and str(ROOT).encode() in archive.extractfile(member).read()
        ]
    assert named == []


def test_the_changelog_and_the_package_have_one_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE)[1] == engrain.__version__


def test_the_wheel_runs_in_an_empty_environment(wheel_run, place):
    assert wheel_run["version"].split()[-1] == engrain.__version__
    assert "cedar" in wheel_run["recall"]
    said, location = wheel_run["example"]
    assert said.startswith("I moved to Lisbon")
    assert location.startswith(str(place))


def test_the_source_archive_installs_the_same_files_and_runs(wheel_run, archive_run):
    assert archive_run["files"] == wheel_run["files"]
    assert archive_run["version"] == wheel_run["version"]


def uv(*arguments, folder):
    """Run uv without the pinned versions."""
    return run(sys.executable, "-m", "uv", "pip", *arguments, folder=folder, UV_CONSTRAINT="")


def test_the_wheel_runs_with_the_lowest_versions_that_it_allows(wheel, tmp_path):
    lowest, environment = tmp_path / "lowest.txt", tmp_path / "environment"
    uv("compile", "--no-build", "--resolution", "lowest-direct", "-o", lowest, ROOT / "pyproject.toml", folder=tmp_path)
    run(sys.executable, "-m", "venv", "--without-pip", environment, folder=tmp_path)
    python = environment / "bin/python"
    uv("install", "--no-build", "--python", python, "-r", lowest, wheel, folder=tmp_path)
    embeds = "with Memory.open('agent.db') as memory: print(memory.agent('assistant').recall('home').degraded)"
    assert run(python, "-I", "-c", EXAMPLE + embeds, folder=tmp_path).endswith("\n()\n")
    assert "Lisbon" in run(environment / "bin/engrain", "recall", "home", "--db", "agent.db", folder=tmp_path)


@pytest.mark.parametrize("extras", [("llm", "pydantic-ai", "server", "langgraph", "openai-agents"), ("crewai", "http")])
def test_extras_go_together(extras, tmp_path):
    chosen = [option for extra in extras for option in ("--extra", extra)]
    uv("compile", "--no-build", *chosen, ROOT / "pyproject.toml", folder=tmp_path)
