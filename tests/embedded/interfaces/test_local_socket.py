"""The socket that answers hooks: one of the processes that have a memory open has it, until the last has ended."""

import time

from engrain import Memory
from engrain.interfaces.assistants.local_socket import connect, serve_socket, socket_path

IDENTITY = {"tenant": None, "agent": None, "user": None}
LIGHT = {"embedding": {"model": "none"}}


def asks(database):
    """True if a process answers on the socket."""
    connection = connect(database, IDENTITY, timeout_s=30)
    if connection is None:
        return False
    try:
        return connection.call("context", {"query": "port"}, session=None, timeout_s=30)["text"] == ""
    finally:
        connection.close()


def wait_for_answer(database):
    while not asks(database):
        time.sleep(0.05)


def test_another_process_takes_the_place_of_the_one_that_ends(tmp_path):
    database = tmp_path / "m.db"
    with Memory.open(database, settings=LIGHT) as one, Memory.open(database, settings=LIGHT) as other:
        first, second = serve_socket(one, database), serve_socket(other, database)
        assert first.__enter__() is True
        assert second.__enter__() is False
        assert asks(database)
        first.__exit__(None, None, None)
        wait_for_answer(database)
        second.__exit__(None, None, None)
        assert not asks(database)
        assert not socket_path(database).exists()


def test_a_process_whose_socket_was_replaced_waits_for_its_turn_again(tmp_path):
    database = tmp_path / "m.db"
    with Memory.open(database, settings=LIGHT) as memory, serve_socket(memory, database) as is_listening:
        assert is_listening
        socket_path(database).unlink()
        wait_for_answer(database)
    assert not socket_path(database).exists()
