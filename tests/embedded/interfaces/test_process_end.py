"""A command ends at once when it is done, and not before: threads, exit handlers and output come first."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from engrain.interfaces import cli
from engrain.interfaces.cli import output

PROGRAM = """
import atexit, logging, sys, threading, time
from engrain.interfaces import cli

def main():
    sys.stdout.write("answer, ")  # waits in a buffer
    atexit.register(sys.stdout.write, "handler")
    threading.Thread(target=lambda: (time.sleep(0.1), sys.stdout.write("thread, "))).start()
    {last}

class Slow:
    def __del__(self):
        print("; an object")

slow = Slow()
cli.main = main
sys.exit(cli.run())
"""


def ran(last, **streams):
    streams = {"stdout": subprocess.PIPE, **streams}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(last=last)], check=False, stderr=subprocess.PIPE, text=True, **streams
    )


def test_a_process_ends_after_its_threads_and_exit_handlers_and_frees_no_object():
    done = ran("return 3")
    assert (done.returncode, done.stdout) == (3, "answer, thread, handler")


def test_an_error_that_nobody_expected_ends_a_process_as_ever():
    done = ran("raise ZeroDivisionError")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert done.stdout == "answer, thread, handler; an object\n"


def test_what_cannot_be_written_at_the_end_is_no_success():
    with Path("/dev/full").open("w") as full:
        done = ran("return 0", stdout=full)
    assert done.returncode != 0
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize(("name", "content", "code"), [("stdin", "-", 2), ("stdout", "One.", 0), ("stderr", "One.", 0)])
def test_a_stream_that_is_closed_at_the_start_leads_nowhere(monkeypatch, tmp_path, name, content, code):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "none")
    monkeypatch.setattr(sys, name, None)
    assert cli.main(["observe", content, "--db", str(tmp_path / "memory.db")]) == code


def test_on_windows_a_pipe_gets_utf_8_whatever_its_code_page_is(monkeypatch):
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding="cp1252"))
    monkeypatch.setattr("engrain.interfaces.cli.sys.platform", "win32")
    cli._prepare_streams()
    output.say("猫 in Lisbon")
    sys.stdout.flush()
    assert pipe.getvalue().decode() == "猫 in Lisbon\n"
