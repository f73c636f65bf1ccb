import json
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "support" / "samples"


@pytest.fixture
def samples():
    return SAMPLES


@pytest.fixture
def sample(samples):
    """A sample's JSON, to be changed and written again."""
    return lambda name: json.loads((samples / name).read_text(encoding="utf-8"))


@pytest.fixture
def written(tmp_path):
    """Writes bytes or text as they are, a list of values as JSON lines to *.jsonl, anything else as JSON."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8", newline="")
        elif name.endswith(".jsonl"):
            path.write_text("".join(json.dumps(value) + "\n" for value in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write
