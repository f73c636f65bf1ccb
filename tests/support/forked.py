"""Processes forked from one that has loaded the package, as loading it takes 0.3 to 1.4 s of a core each time.

python -m tests.support.forked SOCKET                serves, and says so, until its standard input ends
python tests/support/forked.py SOCKET ARGUMENT...    runs `engrain ARGUMENT...` there, on the streams of the caller

A test of imports, of encodings or of the start of Python itself runs a process that is not forked.
"""

import array
import gc
import json
import os
import signal
import socket
import sys
from contextlib import suppress

STREAMS = (0, 1, 2)
COMMAND = "engrain.interfaces.cli:main"
# What a memory loads when it is opened and first asked: 140 modules, two thirds of the CPU of a short command.
MEMORY = [
    "engrain.agent.keys",
    "engrain.agent.learning.reflection",
    "engrain.agent.operations.monitoring",
    "engrain.agent.pools",
    "engrain.agent.reads.context_blocks",
    "engrain.agent.reads.overview",
    "engrain.agent.wiring.buffers",
    "engrain.agent.wiring.engines",
    "engrain.agent.wiring.learner",
    "engrain.agent.wiring.note_cache",
    "engrain.agent.wiring.parts",
    "engrain.agent.wiring.usage",
    "engrain.agent.wiring.workers",
    "engrain.agent.writes.episodes",
    "engrain.engines.embedders.cache",
    "engrain.learning.consolidation.runner",
    "engrain.learning.summaries.summarization",
    "engrain.lifecycle.audit",
    "engrain.portability.backups",
    "engrain.portability.exports",
    "engrain.retrieval.custom_presets",
    "engrain.retrieval.embeddings.embedding_queue",
    "engrain.retrieval.reranking",
    "engrain.storage.backup.extraction",
    "engrain.verbs.chat_words",
]
# Loaded in the server before the first process that needs them is forked, so that the next ones have them, too.
LOADED = {
    COMMAND: [
        "engrain.interfaces.cli.commands",
        "engrain.interfaces.cli.verb_commands",
        "engrain.service",
        "engrain.storage.sqlite.backend",
        "tests.support.stores",
        *MEMORY,
    ],
    "serve": [
        "engrain.interfaces.http.app",
        "engrain.interfaces.http.routes:router",
        "engrain.interfaces.mcp.server",
        "engrain.interfaces.serving",
        "uvicorn",
    ],
    "mcp": ["engrain.interfaces.mcp.server"],
    "migrate": ["engrain.storage.postgres.backend", "tests.support.stores"],
}


def serve(path):
    """Fork a process for each connection, and report how it ended; in a process that was forked, what it shall run."""
    import selectors

    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
        listener.bind(path)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        selector.register(listener, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == 0:
                    return None
                if key.fileobj is not listener:
                    selector.unregister(key.fileobj)
                    report(key.fileobj, *key.data)
                    continue
                connection, _ = listener.accept()
                try:
                    asked, streams = received(connection)
                except ConnectionError:  # who asked is gone
                    connection.close()
                    continue
                load(asked["modules"])
                pid = forked(connection, streams)
                if pid == 0:
                    for other in selector.get_map().values():
                        if other.data:
                            report(other.fd, None, other.data[1])
                    return asked, streams
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))


def load(names):
    """Load modules, and make what the function of one makes once and keeps: MODULE:FUNCTION."""
    import importlib

    for name in names:
        module, _, function = name.partition(":")
        loaded = importlib.import_module(module)
        if function:
            getattr(loaded, function)()


def forked(connection, streams):
    """The process that runs on the streams, 0 in itself; the one who asked is told which it is."""
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        connection.close()
        return 0
    for stream in streams:
        os.close(stream)
    with suppress(ConnectionError):
        connection.sendall(array.array("i", [pid]))
    return pid


def report(process, pid, connection):
    """Tell how a process ended, where it is one of this process, and let go of it."""
    os.close(process)
    with connection, suppress(ConnectionError):
        if pid is not None:
            connection.sendall(array.array("i", [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]))


def received(connection):
    """What shall run, and the streams it runs on."""
    size, streams, _, _ = socket.recv_fds(connection, 4, len(STREAMS))
    said = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
    if not said or len(said) < int.from_bytes(size, "big"):
        raise ConnectionError
    return json.loads(said), streams


def become(asked, streams):
    """Run what was asked for, in the folder, the environment and on the streams of the one who asked."""
    import importlib

    for here, there in zip(STREAMS, streams, strict=True):
        os.dup2(there, here)
        os.close(there)
    for name, stream, mode in zip(("stdin", "stdout", "stderr"), STREAMS, "rww", strict=True):
        buffering = 1 if name == "stderr" or os.isatty(stream) else -1
        errors = "backslashreplace" if name == "stderr" else "strict"
        setattr(sys, name, open(stream, mode, buffering, errors=errors, closefd=False))  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    if asked["interruptible"]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    module, _, function = asked["function"].partition(":")
    sys.argv = ["engrain", *asked["arguments"]]
    return getattr(importlib.import_module(module), function)(asked["arguments"])


def connected(path):
    """A connection to the server."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    return connection


def ask(connection, asked, streams):
    """Ask the server for a process; it says which it is, and later how that ended."""
    said = json.dumps(asked).encode()
    socket.send_fds(connection, [len(said).to_bytes(4, "big")], streams)
    connection.sendall(said)


def number(connection):
    """The next number that the server says."""
    return array.array("i", connection.recv(4, socket.MSG_WAITALL))[0]


def command(arguments, **more):
    """A command of the package, as the server is asked for it."""
    named = next((each for each in arguments if each in LOADED), None)
    modules = [*LOADED[COMMAND], *(LOADED[named] if named else [])]
    return asked_for(COMMAND, arguments, modules=modules, **more)


def asked_for(function, arguments, *, modules=(), folder=None, environment=None, interruptible=False):
    """A call of a function of a module, as the server is asked for it."""
    return {
        "function": function,
        "arguments": [str(each) for each in arguments],
        "modules": list(modules),
        "folder": str(folder or os.getcwd()),  # noqa: PTH109  # pathlib takes as long to load as Python to start
        "environment": dict(os.environ if environment is None else environment),
        "interruptible": interruptible,
    }


def run():
    """The exit code of a command on the streams of this process."""
    with connected(sys.argv[1]) as connection:
        ask(connection, command(sys.argv[2:]), STREAMS)
        number(connection)
        code = number(connection)
    return code if code >= 0 else 128 - code


def end(run):
    """End the process as Python does, but leave what is loaded as it is: to take it apart would copy it all."""
    import atexit
    import threading
    import traceback

    try:
        code = run()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001  # as the interpreter would show it
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(run())
    job = serve(sys.argv[1])
    if job is not None:
        end(lambda: become(*job))
