"""A language model behind a program: it reads the prompt on its standard input and writes its answer on its output."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engrain.domain.runs.completions import Completion
from engrain.engines.answers import MOST_BYTES, system_of, text_of, too_long
from engrain.engines.endpoint import sendable
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.domain.runs.completions import Prompt

_PIECE: Final = 65_536
_LAST_BYTES: Final = 4_096  # of what the program says on its error output
_LAST_CHARS: Final = 300
_LOOK_S: Final = 0.2  # how long a program that has ended is not noticed while its children hold its output
_WORD = re.compile(r"\w+")


class CommandLLM:
    """The model that a program speaks for: one process a prompt, in a group of its own, never through a shell.

    The process has this one's environment and folder. It gets the system prompt, an empty line and the user's part in
    UTF-8; what it writes is the answer, once it ends with exit code 0. How often it tries is its own affair.
    """

    def __init__(self, argv: Sequence[str], *, clock: Callable[[], float] = time.monotonic) -> None:
        """Run `argv`, the program first.

        Raises:
            InvalidInput: it is no list of arguments.
        """
        is_list = isinstance(argv, list | tuple) and all(isinstance(each, str) and "\0" not in each for each in argv)
        if not is_list or not argv or not argv[0].strip():
            raise InvalidInput(f"llm.command must be a list of a program and its arguments, not {type(argv).__name__}")
        self._argv = tuple(argv)
        self._clock = clock
        # Arguments may hold keys; the name is shown and kept.
        self.name: Final = f"command:{Path(argv[0]).name}"
        self._who = f"the LLM {self.name}"

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says; when time is up the program and whatever it started are killed."""
        ends = self._clock() + timeout_s
        said = f"{system_of(prompt)}\n\n{sendable(prompt.user)}"
        process = self._started()
        try:
            output, errors = self._exchange(process, said.encode(), ends)
            process.wait(max(ends - self._clock(), 0.0))
        except subprocess.TimeoutExpired:
            raise EngineUnavailable(f"{self._who} did not end within {timeout_s:g} s, and was killed") from None
        finally:
            _end(process)
        if process.returncode:
            raise EngineUnavailable(f"{self._who} {_ended(process.returncode)}{_last(errors, prompt)}")
        return Completion(text=text_of(output, self._who))

    def _started(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(  # noqa: S603  # its argv comes from the settings, and no shell reads it
                self._argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise EngineUnavailable(
                f"{self._who} cannot be started ({error.strerror}): set llm.command to a program that is installed"
            ) from error

    def _exchange(self, process: subprocess.Popen[bytes], said: bytes, ends: float) -> tuple[bytes, bytes]:
        """Its output and the last of its error output: all it writes until it ends, also where its children go on.

        Raises:
            EngineUnavailable: it writes more than 5 MB.
            subprocess.TimeoutExpired: time is up.
        """
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        asked, output, errors = process.stdin.fileno(), bytearray(), deque[int](maxlen=_LAST_BYTES)
        into: dict[int, bytearray | deque[int]] = {process.stdout.fileno(): output, process.stderr.fileno(): errors}
        left = memoryview(said)
        with selectors.DefaultSelector() as pipes:
            os.set_blocking(asked, False)
            pipes.register(asked, selectors.EVENT_WRITE)
            for fd in into:
                pipes.register(fd, selectors.EVENT_READ)
            while into:
                has_ended, left_s = process.poll() is not None, ends - self._clock()
                if left_s <= 0:
                    raise subprocess.TimeoutExpired(self.name, left_s)
                ready = {key.fd for key, _ in pipes.select(0 if has_ended else min(_LOOK_S, left_s))}
                if has_ended and not ready & into.keys():
                    break
                for fd in ready & into.keys():
                    piece = os.read(fd, _PIECE)
                    into[fd].extend(piece)
                    if not piece:
                        pipes.unregister(fd)
                        del into[fd]
                if asked in ready and not (left := _written(asked, left)):
                    pipes.unregister(asked)
                    process.stdin.close()
                if len(output) > MOST_BYTES:
                    raise too_long(self._who)
        return bytes(output), bytes(errors)


def _written(pipe: int, left: memoryview) -> memoryview:
    """What is left to be written; nothing where the program does not want to read."""
    try:
        return left[os.write(pipe, left[:_PIECE]) :]
    except BrokenPipeError:
        return left[:0]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the group of a program that still runs, and close what is open between it and us."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _ended(code: int) -> str:
    return f"failed with exit code {code}" if code > 0 else f"was ended by signal {-code}"


def _last(errors: bytes, prompt: Prompt) -> str:
    """The last of what a program said to its errors, without the words it may have from who spoke."""
    spoken = set(_WORD.findall(prompt.user.casefold()))
    said = " ".join(errors.decode(errors="replace").split())[-_LAST_CHARS:]
    shown = _WORD.sub(lambda word: "…" if word[0].casefold() in spoken else word[0], said)
    return f": {shown}" if shown else ""
