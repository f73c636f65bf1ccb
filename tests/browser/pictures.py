"""Pictures of the page for docs/pictures, of the sample chat of examples/ in a real server: `make pictures`."""

import json
import tempfile
from pathlib import Path

from engrain import Memory
from tests.browser.conftest import ROOT, install_packages, run
from tests.support.engrain import EngrainServer

PICTURES = ROOT / "docs" / "pictures"
# What the chat says: subject, predicate, content, since when, and a question whose first hit says so.
FACTS = (
    ("Noor", "lives in", "Bristol", "2024-01-01", "Would you have to leave Bristol?"),
    ("Noor", "lives in", "Ghent", "2025-07-12", "Eight days a resident of Ghent"),
    ("Noor", "lives in", "Trieste", "2026-03-14", "Fifteen days in Trieste"),
    ("Marek", "is allergic to", "dogs", "2025-11-08", "I think I'm allergic to him"),
    ("Marek", "is allergic to", "cedar dust", "2025-12-30", "I'm allergic to my own boat"),
    ("Marek", "is building", "a canoe", "2025-03-14", "the canoe"),
)


def fill(location):
    """Fill an empty memory with the sample chat and facts from it; return the key and the id that the pictures need."""
    with Memory.open(location) as memory:
        agent = memory.agent("assistant")
        agent.import_file(ROOT / "examples" / "two_friends.jsonl")
        for subject, predicate, content, since, said in FACTS:
            source = agent.recall(said, kinds=["episode"], limit=1)[0].memory
            agent.remember(content, subject=subject, predicate=predicate, valid_from=since, source_episode_id=source.id)
        agent.rules.add("Offer Noor a train before a flight.")
        home = agent.facts("Noor", "lives in")[0]
        memory.flush()
        return {"keys": {"admin": memory.keys.create(role="admin").secret}, "ids": {"home": home.id}}


def main():
    """Take the pictures."""
    install_packages()
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="engrain-pictures-") as folder:
        location = str(Path(folder, "memory.db"))
        known = fill(location)
        with EngrainServer(location, "--keys", EMBEDDING__MODEL="minilm") as server:
            world = Path(folder, "world.json")
            world.write_text(json.dumps({"url": server.address, **known}), encoding="utf-8")
            run("node", "test/pictures.js", PAGE_WORLD=str(world), PAGE_PICTURES=str(PICTURES))


if __name__ == "__main__":
    main()
