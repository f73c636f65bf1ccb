"""A program as a language model: real ones, that answer, hang, fail, flood and leave children behind."""

import contextlib
import os
import select
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from engrain.domain.runs.completions import Prompt
from engrain.engines import llm
from engrain.engines.llms.command import CommandLLM
from engrain.errors import EngineUnavailable, InvalidInput

SAID = "Ana keeps the key under the mat, number 4711"
PROMPT = Prompt(system="Say something.", user=SAID)


def python(program, *arguments):
    return CommandLLM([sys.executable, "-I", "-S", "-c", program, *arguments])


def answer(program, *arguments, prompt=PROMPT, timeout_s=30):
    return python(program, *arguments).complete(prompt, timeout_s=timeout_s).text


def failure(llm, timeout_s=30):
    with pytest.raises(EngineUnavailable) as raised:
        llm.complete(PROMPT, timeout_s=timeout_s)
    assert raised.value.__cause__ is None
    return str(raised.value)


@pytest.mark.req("B12.2")
def test_a_program_reads_the_prompt_and_writes_the_answer():
    assert answer("import sys; print(sys.stdin.read())") == f"Say something.\n\n{SAID}\n"


def test_a_schema_is_told_in_words():
    said = answer("import sys; print(sys.stdin.read())", prompt=Prompt(system="s", user="u", schema={"type": "array"}))
    assert said == 's\n\nAnswer with JSON of this schema, and with nothing else:\n{"type": "array"}\n\nu\n'


@pytest.mark.req("B12.2")
def test_no_shell_reads_the_arguments():
    assert answer("import sys; print(sys.argv[1:])", "$HOME; echo *", "a b") == "['$HOME; echo *', 'a b']\n"


def test_a_program_that_does_not_read_is_no_failure():
    long = Prompt(system="s", user="x" * 1_000_000)
    assert answer("print('yes')", prompt=long) == "yes\n"


def test_a_program_that_answers_while_it_reads_is_read_while_it_is_written_to():
    echo = "import sys\nfor line in sys.stdin: sys.stdout.write(line)"
    long = Prompt(system="s", user="line\n" * 200_000)
    assert len(answer(echo, prompt=long)) == 1_000_003


def test_a_program_that_fails_says_why_without_the_words_of_who_spoke():
    program = (
        "import sys; sys.stderr.write('first\\n' * 5000 + f'Error: no such model: {sys.stdin.read()!r}'); sys.exit(3)"
    )
    said = failure(python(program))
    assert said.startswith(f"the LLM command:{Path(sys.executable).name} failed with exit code 3: ")
    assert "Error: no such model" in said
    assert not {"Ana", "mat", "4711", "keeps"} & set(said.replace("'", " ").replace(",", " ").split())
    assert len(said) < 500


def test_a_program_that_fails_silently_says_its_code():
    assert failure(python("raise SystemExit(3)")).endswith("failed with exit code 3")


def test_a_program_that_is_killed_says_by_what():
    assert failure(python("import os; os.kill(os.getpid(), 9)")).endswith("was ended by signal 9")


CHILD = "subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)']).pid"


def test_a_program_that_hangs_is_killed_with_all_it_started(tmp_path):
    """Time is up once it has told of its child, which is gone when the error is there."""
    told = tmp_path / "child"
    program = (
        f"import os, subprocess, sys, time; open(sys.argv[1] + '.part', 'w').write(str({CHILD}))\n"
        "os.rename(sys.argv[1] + '.part', sys.argv[1]); print('begun', flush=True); time.sleep(600)"
    )
    hanging = CommandLLM(
        [sys.executable, "-I", "-S", "-c", program, str(told)], clock=lambda: 100.0 if told.exists() else 0.0
    )
    assert failure(hanging, timeout_s=60).endswith("did not end within 60 s, and was killed")
    assert is_gone(int(told.read_text()))


def is_gone(process):
    """Whether a process ends, as it does soon after it was killed."""
    try:
        watched = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 30)[0])
    finally:
        os.close(watched)


def test_a_program_that_closes_its_output_and_goes_on_is_killed():
    program = "import os, time; os.close(1); os.close(2); time.sleep(600)"
    assert failure(python(program), timeout_s=0.5).endswith("did not end within 0.5 s, and was killed")


def test_what_a_program_leaves_behind_with_its_output_open_is_not_waited_for():
    """A server that the program has started, say: the answer is there, and it goes on."""
    left = int(answer(f"import subprocess, sys; print({CHILD})"))
    os.kill(left, signal.SIGKILL)  # it is there
    assert is_gone(left)


def test_a_flood_is_ended():
    program = "import sys\nwhile True: sys.stdout.write('x' * 100_000)"
    assert failure(python(program)).endswith("answered more than 5 MB")


def test_a_flood_of_errors_ends_with_the_time():
    program = "import sys\nwhile True: sys.stderr.write('x' * 100_000)"
    assert failure(python(program), timeout_s=0.5).endswith("did not end within 0.5 s, and was killed")


def test_binary_output_is_no_answer():
    program = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\x00')"
    assert failure(python(program)).endswith("answered binary data, not text in UTF-8")


def test_nothing_is_left_open():
    before = open_files()
    for program in ("print('yes')", "raise SystemExit(1)", "import time; time.sleep(600)"):
        with contextlib.suppress(EngineUnavailable):
            answer(program, timeout_s=0.2)
    assert open_files() <= before


def open_files():
    return {each.name for each in Path("/proc/self/fd").iterdir()}


def test_a_program_that_is_not_there_is_said():
    with pytest.raises(EngineUnavailable, match=r"the LLM command:no-such-llm cannot be started \(No such file"):
        CommandLLM(["/nowhere/no-such-llm", "--key", "sk-1"]).complete(PROMPT, timeout_s=5)


@pytest.mark.parametrize("argv", [[], [""], ["a\0b"], "llm -m x", None, [1], [["a"]]])
def test_what_is_no_command_is_refused(argv):
    with pytest.raises(InvalidInput, match=r"llm\.command must be a list of a program and its arguments"):
        CommandLLM(argv)


def test_a_command_comes_from_the_settings_or_the_name():
    by_settings = llm("command", command=[sys.executable, "-c", "print('yes')"])
    assert by_settings.complete(PROMPT, timeout_s=30).text == "yes\n"
    by_name = llm(f"command:{sys.executable} -c \"print('a b')\"")
    assert by_name.complete(PROMPT, timeout_s=30).text == "a b\n"
    with pytest.raises(InvalidInput, match="cannot be split into arguments"):
        llm("command:llm 'half")
    with pytest.raises(InvalidInput, match=r"llm\.command must be a list"):
        llm("command")


@pytest.fixture
def as_on_windows(monkeypatch):
    """Where pipes cannot be waited for, no group is killed, and a program is found by its name's endings."""
    monkeypatch.setattr("engrain.engines.llms.command.sys", SimpleNamespace(platform="win32"))


@pytest.mark.usefixtures("as_on_windows")
def test_on_windows_a_program_is_found_by_name_and_answers(tmp_path, monkeypatch):
    (tmp_path / "model").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    program = "import sys; print(sys.argv[0], sys.stdin.read()); sys.stderr.write('.' * 100_000)"
    llm = CommandLLM(["model", "-I", "-S", "-c", program])
    assert llm.complete(PROMPT, timeout_s=30).text == f"-c Say something.\n\n{SAID}\n"


@pytest.mark.usefixtures("as_on_windows")
@pytest.mark.parametrize(
    ("program", "timeout_s", "said"),
    [
        ("import sys; sys.stderr.write('.' * 9000 + 'no credit'); sys.exit(3)", 30, "no credit"),
        ("import time; time.sleep(600)", 0.5, "did not end within 0.5 s, and was killed"),
        ("print('x' * 5_000_001)", 30, "answered more than 5 MB"),
    ],
)
def test_on_windows_a_failure_says_why(program, timeout_s, said):
    assert failure(python(program), timeout_s=timeout_s).endswith(said)
