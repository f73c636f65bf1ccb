"""LLM behind a program, which reads the prompt on its standard input and writes its answer on its output."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engrain.domain.runs.completions import Completion, Prompt
from engrain.engines.llms.responses import MAX_ANSWER_BYTES, parse_text, system_prompt, too_long_error
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_CHUNK_BYTES: Final = 65_536
_MAX_ERROR_BYTES: Final = 4_096  # of the program's error output
_MAX_ERROR_CHARS: Final = 300
_POLL_S: Final = 0.2  # longest time until the end of a program is noticed while its children hold its output
_WORD = re.compile(r"\w+")


class CommandLLM:
    """LLM that runs a program: one process a prompt, in a process group of its own, never through a shell.

    The process has this one's environment and folder. It gets the system prompt, an empty line and the user's part in
    UTF-8; what it writes is the answer, once it ends with exit code 0. Retries are up to the program.
    """

    def __init__(self, argv: Sequence[str], *, clock: Callable[[], float] = time.monotonic) -> None:
        """Run `argv`, the program first.

        Raises:
            InvalidInput: it is no list of arguments.
        """
        is_list = isinstance(argv, list | tuple) and all(isinstance(arg, str) and "\0" not in arg for arg in argv)
        if not is_list or not argv or not argv[0].strip():
            raise InvalidInput(f"llm.command must be a list of a program and its arguments, not {type(argv).__name__}")
        self._argv = tuple(argv)
        self._clock = clock
        # Arguments may hold keys; the name is shown and stored.
        self.name: Final = f"command:{Path(argv[0]).name}"
        self._label = f"the LLM {self.name}"

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says; when time is up the program and whatever it started are killed."""
        deadline = self._clock() + timeout_s
        text = f"{system_prompt(prompt)}\n\n{replace_surrogates(prompt.user or ' ')}"
        process = self._start()
        try:
            exchange = self._communicate if sys.platform == "win32" else self._exchange
            output, errors = exchange(process, text.encode(), deadline)
            process.wait(max(deadline - self._clock(), 0.0))
        except subprocess.TimeoutExpired:
            raise EngineUnavailable(f"{self._label} did not end within {timeout_s:g} s, and was killed") from None
        finally:
            _stop(process)
        if process.returncode:
            raise EngineUnavailable(
                f"{self._label} {_describe_exit(process.returncode)}{_quote_errors(errors, prompt)}"
            )
        return Completion(text=parse_text(output, self._label))

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(  # noqa: S603  # its argv comes from the settings, and no shell reads it
                self._find_program(), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise EngineUnavailable(
                f"{self._label} cannot be started ({error.strerror}): set llm.command to a program that is installed"
            ) from error

    def _find_program(self) -> Sequence[str]:
        """The arguments; on Windows with the program's path, as what npm installs is no .exe."""
        name, *arguments = self._argv
        return (shutil.which(name) or name, *arguments) if sys.platform == "win32" else self._argv

    def _exchange(self, process: subprocess.Popen[bytes], text: bytes, deadline: float) -> tuple[bytes, bytes]:
        """The output and the end of the error output: all it writes until it ends, even if its children go on.

        Raises:
            EngineUnavailable: it writes more than 5 MB.
            subprocess.TimeoutExpired: time is up.
        """
        assert sys.platform != "win32"
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        stdin, output, errors = process.stdin.fileno(), bytearray(), deque[int](maxlen=_MAX_ERROR_BYTES)
        buffers: dict[int, bytearray | deque[int]] = {process.stdout.fileno(): output, process.stderr.fileno(): errors}
        left = memoryview(text)
        with selectors.DefaultSelector() as pipes:
            os.set_blocking(stdin, False)
            pipes.register(stdin, selectors.EVENT_WRITE)
            for fd in buffers:
                pipes.register(fd, selectors.EVENT_READ)
            while buffers:
                has_ended, left_s = process.poll() is not None, deadline - self._clock()
                if left_s <= 0:
                    raise subprocess.TimeoutExpired(self.name, left_s)
                ready = {key.fd for key, _ in pipes.select(0 if has_ended else min(_POLL_S, left_s))}
                if has_ended and not ready & buffers.keys():
                    break
                for fd in ready & buffers.keys():
                    chunk = os.read(fd, _CHUNK_BYTES)
                    buffers[fd].extend(chunk)
                    if not chunk:
                        pipes.unregister(fd)
                        del buffers[fd]
                if stdin in ready and not (left := _write(stdin, left)):
                    pipes.unregister(stdin)
                    process.stdin.close()
                if len(output) > MAX_ANSWER_BYTES:
                    raise too_long_error(self._label)
        return bytes(output), bytes(errors)

    def _communicate(self, process: subprocess.Popen[bytes], text: bytes, deadline: float) -> tuple[bytes, bytes]:
        """The same on Windows, where only sockets can be waited for: with what its children write, until they end."""
        output, errors = process.communicate(text, max(deadline - self._clock(), 0.0))
        if len(output) > MAX_ANSWER_BYTES:
            raise too_long_error(self._label)
        return output, errors[-_MAX_ERROR_BYTES:]


def _write(pipe: int, left: memoryview) -> memoryview:
    """Write a chunk and return what is left; nothing where the program does not read on."""
    try:
        return left[os.write(pipe, left[:_CHUNK_BYTES]) :]
    except BrokenPipeError:
        return left[:0]


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the group of a program that still runs, and close what is open between it and us."""
    if process.poll() is None:
        if sys.platform == "win32":
            with suppress(OSError):
                subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)  # noqa: S603, S607
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _describe_exit(code: int) -> str:
    return f"failed with exit code {code}" if code > 0 else f"was ended by signal {-code}"


def _quote_errors(errors: bytes, prompt: Prompt) -> str:
    """The end of a program's error output, without the words that it may have from the prompt."""
    spoken = set(_WORD.findall(prompt.user.casefold()))
    message = " ".join(errors.decode(errors="replace").split())[-_MAX_ERROR_CHARS:]
    shown = _WORD.sub(lambda word: "…" if word[0].casefold() in spoken else word[0], message)
    return f": {shown}" if shown else ""
