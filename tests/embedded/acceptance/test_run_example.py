"""`make run`: examples/run.py imports, asks, shows the evidence, and can be run again on the same file."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def example(database):
    def run(*arguments, **environment):
        ran = subprocess.run(
            [sys.executable, str(REPOSITORY / "examples" / "run.py"), "--db", database, *map(str, arguments)],
            env={**os.environ, **environment},
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in ran.stderr
        return ran

    return run


def test_it_finds_what_answers_the_six_questions(example, database):
    ran = example(ENGRAIN_EMBEDDING__MODEL="minilm")
    assert ran.returncode == 0, ran.stderr
    assert f"memory: {database}" in ran.stdout
    assert "308 turns added, 0 already there, 11 sessions" in ran.stdout
    assert re.findall(r"^(\d)\. ", ran.stdout, flags=re.MULTILINE) == list("123456")
    assert "Of the 8 messages that answer the questions, 8 are among the first 7 hits" in ran.stdout
    assert ran.stdout.count("  -->  20") == 8
    assert "## What was said" in ran.stdout
    assert "keywords alone" not in ran.stdout


def test_the_commands_it_names_work(example):
    ran = example()
    commands = re.findall(r"^  \S*engrain (--db .*)$", ran.stdout, flags=re.MULTILINE)
    assert [command.split()[4] for command in commands] == ["recall", "context", "remember", "stats"]
    script = "\n".join(f'"{sys.executable}" -m engrain {command}' for command in commands)
    subprocess.run(["/bin/sh", "-e", "-c", script], check=True, capture_output=True, cwd=REPOSITORY)


def test_a_second_run_adds_nothing_and_answers_the_same(example):
    first, second = example().stdout, example().stdout
    assert "0 turns added, 308 already there" in second
    assert first.count("-->") == second.count("-->") > 0


def test_a_persons_own_export_is_asked_their_own_question(example):
    file = REPOSITORY / "tests" / "support" / "samples" / "chatgpt.json"
    ran = example("--file", file, "--ask", "What did I ask about?")
    assert ran.returncode == 0, ran.stderr
    assert "(chatgpt)" in ran.stdout
    assert "1. What did I ask about?" in ran.stdout


def test_an_export_without_a_question_shows_what_is_there_and_how_to_ask(example):
    file = REPOSITORY / "tests" / "support" / "samples" / "locomo.json"
    ran = example("--file", file)
    assert ran.returncode == 0, ran.stderr
    assert "(locomo)" in ran.stdout
    assert re.search(r"episodes total +[1-9]", ran.stdout)
    assert "recall 'your question'" in ran.stdout


def test_a_file_that_is_no_export_is_one_line(example, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Ana")
    ran = example("--file", tmp_path / "letter.txt")
    assert ran.returncode == 1
    assert ran.stderr.startswith("examples/run.py: no known format in ")
