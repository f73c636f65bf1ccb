"""Whatever is public is documented: names, and verbs with their parameters."""

import inspect
from pathlib import Path

import pytest

import engrain
from engrain.agent.consolidation import Consolidation
from engrain.agent.entities import Entities
from engrain.agent.graph import Graph
from engrain.agent.hooks import Hooks
from engrain.agent.jobs import Jobs
from engrain.agent.keys import Keys
from engrain.agent.notes import Notes
from engrain.agent.rules import Rules
from engrain.agent.working import Working
from engrain.retrieval.channels import CHANNELS
from engrain.retrieval.presets import PRESETS
from engrain.retrieval.ranking.signals import SIGNALS

DOCS = Path(__file__).resolve().parents[3] / "docs"
# The pages that document what Python offers.
PAGES = ("library.md", "ranking.md", "turns.md", "learning.md", "stores.md", "engines.md")
LIBRARY = "\n".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
RANKING = (DOCS / "ranking.md").read_text(encoding="utf-8")
INTERNAL = {"parts"}  # what the rooms of the package share


def verbs(owner):
    return [
        (name, member)
        for name, member in inspect.getmembers(owner)
        if not name.startswith("_") and name not in INTERNAL and callable(member)
    ]


@pytest.mark.parametrize("name", [name for name in engrain.__all__ if name != "__version__"])
def test_every_public_name_is_in_the_documentation(name):
    assert f"`{name}" in LIBRARY


@pytest.mark.parametrize(
    ("name", "member"),
    [
        *verbs(engrain.Memory),
        *verbs(engrain.Agent),
        *((f"rules.{name}", verb) for name, verb in verbs(Rules)),
        *((f"notes.{name}", verb) for name, verb in verbs(Notes)),
        *((f"entities.{name}", verb) for name, verb in verbs(Entities)),
        *((f"graph.{name}", verb) for name, verb in verbs(Graph)),
        *((f"consolidation.{name}", verb) for name, verb in verbs(Consolidation)),
        *((f"hooks.{name}", verb) for name, verb in verbs(Hooks)),
        *((f"working.{name}", verb) for name, verb in verbs(Working)),
        *((f"keys.{name}", verb) for name, verb in verbs(Keys)),
        *((f"jobs.{name}", verb) for name, verb in verbs(Jobs)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_every_verb_is_shown_with_its_parameters(name, member):
    rows = [line for line in LIBRARY.splitlines() if line.startswith("| `") and f".{name}(" in line]
    parameters = [each for each in inspect.signature(member).parameters if each not in {"self", "cls"}]
    assert any(all(each.rstrip("_") in row for each in parameters) for row in rows), parameters


@pytest.mark.parametrize("signal", PRESETS["engrain"].weights)
def test_every_part_of_a_score_is_explained(signal):
    assert f"\n| {signal} | " in RANKING


@pytest.mark.parametrize("name", [*CHANNELS, *SIGNALS])
def test_every_channel_and_judge_of_a_ranking_of_ones_own_is_named(name):
    assert f"`{name}`" in RANKING.partition("### Your own ranking")[2].partition("```")[0]


def test_every_preset_is_explained():
    assert all(f"`{name}`" in LIBRARY or f'"{name}"' in LIBRARY for name in PRESETS)
