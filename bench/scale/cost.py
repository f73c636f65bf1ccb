"""Server CPU of recalls and observes: that of all processes of the nodes, which are on this machine."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]  # which has no types of its own

from bench.speed import language

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain import Memory


def fill(memory: Memory, *, tenants: int, memories: int) -> None:
    """Let every tenant observe its share of a talk, with vectors."""
    said = language.talk(tenants * memories)
    for place in range(tenants):
        turns = said[place * memories : (place + 1) * memories]
        agent = memory.agent("aide", tenant=f"tenant {place}")
        for turn in turns:
            agent.observe(turn.content, session=turn.session, speaker=turn.speaker, event_time=turn.said_at)
    memory.flush()


def measure(memory: Memory, ports: Sequence[int], *, tenants: int, rounds: int) -> dict[str, float]:
    """Return milliseconds of server CPU for each call of a verb, on warm connections."""
    said = language.talk(2 * rounds)
    questions = language.questions(said, 2 * rounds, naming=True)
    agents = [memory.agent("aide", tenant=f"tenant {number}") for number in range(tenants)]

    def recall(number: int) -> None:
        agents[number % tenants].recall(questions[number % len(questions)])

    def observe(number: int) -> None:
        turn = said[number % len(said)]
        agents[number % tenants].observe(turn.content, session=f"more {number % 7}", speaker=turn.speaker)

    return {
        "recall": _price(recall, ports, rounds),
        "observe": _price(observe, ports, rounds),
    }


def print_prices(prices: dict[str, dict[str, float]]) -> None:
    """Print each verb's CPU on each, and how many times the first's it is."""
    first = next(iter(prices.values()))
    for verb, plain in first.items():
        row = "   ".join(
            f"{name} {price[verb]:6.2f} ms ({price[verb] / plain:.1f} x)" for name, price in prices.items()
        )
        print(f"{verb:8} {row}")


def _price(call: Callable[[int], None], ports: Sequence[int], rounds: int) -> float:
    for number in range(rounds // 4):
        call(number)
    gc.collect()
    before = cpu_seconds(ports)
    for number in range(rounds):
        call(number + rounds // 4)
    return (cpu_seconds(ports) - before) / rounds * 1e3


def cpu_seconds(ports: Sequence[int]) -> float:
    """Sum the CPU of the servers that listen on some ports, of all their processes, ended ones included."""
    found = {
        connection.pid
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port in ports and connection.pid is not None
    }
    seconds = 0.0
    for pid in found:
        postmaster = psutil.Process(pid)
        times = postmaster.cpu_times()
        seconds += times.user + times.system + times.children_user + times.children_system
        for child in postmaster.children(recursive=True):
            spent = child.cpu_times()
            seconds += spent.user + spent.system
    return seconds
