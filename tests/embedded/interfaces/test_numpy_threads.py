"""Commands that answer once start no thread of OpenBLAS, and change no environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = Path("/proc/self/task")
PROGRAM = """
import os, sys
from engrain.interfaces.cli import main
code = main(sys.argv[1:])
print(code, "numpy" in sys.modules, len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"))
"""


@pytest.mark.skipif(not TASKS.is_dir(), reason="only Linux lists the threads of a process there")
@pytest.mark.parametrize(
    "arguments",
    [["recall", "Which port?"], ["observe", "It listens on 8080."], ["hook", "UserPromptSubmit"]],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("threads", [None, "2"])
def test_a_command_has_the_threads_of_blas_that_the_environment_says(tmp_path, monkeypatch, arguments, threads):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "none")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if threads is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
    payload = {"session_id": "s", "cwd": str(tmp_path), "prompt": "Which port?", "hook_event_name": "UserPromptSubmit"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments, "--db", str(tmp_path / "memory.db")],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
    )
    count = min(int(threads or 1), os.cpu_count())
    assert ran.stdout.splitlines()[-1] == f"0 True {count} {threads}"
