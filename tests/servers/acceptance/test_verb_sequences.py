"""Random sequences of verbs: a server answers as the library, PostgreSQL as SQLite, and a copy as what it is of.

`python -m tests.servers.acceptance.test_verb_sequences 100` plays so many more of each.
"""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.portability.copies import copy_database
from tests.support.asgi import serving
from tests.support.clock import Clock
from tests.support.random_verbs import Player, open_memory
from tests.support.wiped import fresh_url

SEEDS = range(2)


def play_served(seed, _folder, opened):
    clock = Clock()
    library, behind = (opened.enter_context(open_memory(":memory:", clock)) for _ in range(2))
    address = opened.enter_context(serving(create_app(behind, gate=Gate(behind, keys_required=False))))
    remote = opened.enter_context(Memory.open(address))
    player = Player(f"served {seed}", clock, library, remote)
    for _ in range(2):
        player.play(20)
        player.read()
    return library, behind


def play_both_databases(seed, folder, opened):
    clock = Clock()
    places = str(folder / "memory.db"), opened.enter_context(fresh_url())
    memories = [opened.enter_context(open_memory(place, clock)) for place in places]
    player = Player(f"databases {seed}", clock, *memories)
    for _ in range(2):
        player.play(20)
        player.read()
    return memories


def play_copied(seed, folder, opened):
    clock, (source, target) = Clock(), (str(folder / f"{name}.db") for name in ("source", "target"))
    memory = opened.enter_context(open_memory(source, clock))
    player = Player(f"copied {seed}", clock, memory)
    player.play(25)
    memory.parts.references.flush()
    assert copy_database(source, target).differing == ()
    assert sum(table.added for table in copy_database(source, target).tables) == 0
    return go_on(player, opened.enter_context(open_memory(target, clock)))


def play_restored(seed, folder, opened):
    clock = Clock()
    memory, target = (opened.enter_context(open_memory(":memory:", clock)) for _ in range(2))
    player = Player(f"restored {seed}", clock, memory)
    player.play(25)
    memory.backup(folder / "backup")
    target.restore(folder / "backup")
    assert target.restore(folder / "backup").added == {}
    return go_on(player, target)


def go_on(player, copy):
    player.join(copy)
    player.read(3)
    player.play(10)
    player.read()
    return [side.memory for side in player.sides]


PLAYS = {"served": play_served, "databases": play_both_databases, "copied": play_copied, "restored": play_restored}


def play(name, seed, folder):
    with ExitStack() as opened:
        for memory in PLAYS[name](seed, folder, opened):
            assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PLAYS)
def test_two_that_were_told_the_same_answer_the_same(name, seed, tmp_path):
    play(name, seed, tmp_path)


if __name__ == "__main__":
    for number in range(SEEDS.stop, SEEDS.stop + int(sys.argv[1])):
        for kind in PLAYS:
            sys.stdout.write(f"{kind} {number}\n")
            with tempfile.TemporaryDirectory() as created:
                play(kind, number, Path(created))
