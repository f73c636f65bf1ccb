"""The command line for scripts of many commands: loaded once and forked for each, where loading takes 0.6 s of a core.

python -m tests.support.forked SOCKET                serves, and says so, until it is ended
python tests/support/forked.py SOCKET ARGUMENT...    runs one command there, as if it were `engrain ARGUMENT...`
"""

import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path

STREAMS = (0, 1, 2)


def serve(path):
    import engrain.service
    import engrain.storage.sqlite.store  # noqa: F401  # loaded for the commands that open a file
    from engrain.interfaces.cli import commands, main  # noqa: F401  # commands are what main would load

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the commands: they tell their exit code
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                obey(connection, main)
            connection.close()


def obey(connection, main):
    """Take the streams, folder and environment of the one who asks, and end as the command does."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    said, streams, _, _ = socket.recv_fds(connection, 65_536, len(STREAMS))
    while piece := connection.recv(65_536):
        said += piece
    asked = json.loads(said)
    for here, there in zip(STREAMS, streams, strict=True):
        os.dup2(there, here)
        os.close(there)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(each, mode) for each, mode in zip(STREAMS, "rww", strict=True))
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    code = 1
    try:
        code = main(asked["arguments"])
    except BaseException:  # noqa: BLE001  # as the interpreter would show it
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(bytes([code]))
    os._exit(code)


def ask(path, arguments):
    """The exit code of a command that runs at the server."""
    asked = {"arguments": arguments, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        said = json.dumps(asked).encode()
        sent = socket.send_fds(connection, [said], STREAMS)
        connection.sendall(said[sent:])
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1)[0]


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
