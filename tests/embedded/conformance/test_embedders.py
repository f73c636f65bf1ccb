"""What every shipped embedder promises by its port, and what minilm, the default, promises beyond it."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from engrain.engines import CallableEmbedder, ServiceAddress, embedder
from engrain.engines.embedders import minilm
from engrain.engines.embedders.cache import CachingEmbedder
from engrain.engines.embedders.minilm import FOLDER, MAX_BATCH, MAX_BATCH_TOKENS, PACKED_RUNS, MiniLM, batches
from engrain.engines.embedders.minilm.tokens import MAX_TOKENS, leading_ids, open_tokenizer
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.retrieval.embeddings.checked_embedder import CheckedEmbedder
from tests.support.local_models import make_embedder, package
from tests.support.models import KEY, numbers, serving
from tests.support.races import run_together

REFERENCE = json.loads(Path(__file__).with_name("minilm_reference.json").read_text(encoding="utf-8"))
TEXTS = [entry["text"] for entry in REFERENCE]
VARIED = [("word " * words).strip() for words in (7, 1, 3, 3, 9, 2, 8, 5, 4, 6)]
# Each provider with the path of its API on the test's server, if it is served.
SHIPPED = {"minilm": None, "sentence-transformers": None, "openai": "/v1", "cohere": "/v2"}
MADE = ["callable", "checked", "caching"]  # of a function, and around another embedder

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates included
# What a cut may fall into: words, marks that join the letter before, special tokens, blanks, scripts without spaces.
fragments = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["[MASK]", "[CLS]", "[", "e\u0301", "\u0301\u0323", "中文", "x" * 120, "ab " * 40, " " * 300, "!", "\0"]
    ),
)


@pytest.fixture(scope="module")
def resolve(tmp_path_factory):
    """The shipped embedder of a name: those that are served by a real server, without which none would answer."""
    with serving() as models, package(), pytest.MonkeyPatch.context() as patch:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            patch.delenv(variable, raising=False)
        model = make_embedder(tmp_path_factory.mktemp("models") / "model")

        def resolved(name):
            path = SHIPPED[name.partition(":")[0]]
            if name == "sentence-transformers":
                name = f"{name}:{model}"
            return embedder(name if path is None or ":" in name else f"{name}:m", address=addresses[path])

        addresses = {
            path: path and ServiceAddress(url=models.url + path, key=SecretStr(KEY)) for path in SHIPPED.values()
        }
        yield resolved


@pytest.fixture(scope="module", params=SHIPPED)
def shipped(request, resolve):
    return resolve(request.param)


@pytest.fixture(scope="module", params=[*SHIPPED, *MADE])
def engine(request, resolve):
    match request.param:
        case "callable":
            return CallableEmbedder(_vectors, name="mine:v1", dims=16)
        case "checked":
            return CheckedEmbedder(CallableEmbedder(_vectors, name="mine:v1", dims=16))
        case "caching":
            return CachingEmbedder(CallableEmbedder(_vectors, name="mine:v1", dims=16), max_entries=50)
        case provider:
            return resolve(provider)


def _vectors(texts):
    return [numbers(text.encode("utf-8", "replace").decode(), dims=16) for text in texts]


@pytest.fixture(scope="module")
def tokenizer():
    return open_tokenizer(FOLDER / "tokenizer.json")


@pytest.fixture
def copy(tmp_path):
    """The shipped files by link, to be replaced one by one."""
    for path in FOLDER.iterdir():
        if path.is_file():
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


def replace(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def embed(engine, *texts):
    return engine.embed(texts, role="document")


class TestEveryEmbedder:
    @pytest.mark.req("B10.1", "B10.2")
    def test_gives_one_unit_row_of_its_dims_for_each_text(self, engine):
        vectors = embed(engine, *TEXTS)
        assert vectors.shape == (len(TEXTS), engine.dims)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)

    @given(st.lists(any_text, max_size=3))
    def test_takes_any_text(self, engine, texts):
        vectors = embed(engine, *texts)
        assert vectors.shape == (len(texts), engine.dims)
        assert np.isfinite(vectors).all()
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)

    @pytest.mark.req("B10.2")
    def test_gives_no_rows_for_no_texts(self, engine):
        vectors = embed(engine)
        assert vectors.shape == (0, engine.dims)
        assert vectors.dtype == np.float32

    def test_gives_a_text_the_same_vector_whatever_it_is_batched_with(self, engine):
        together = embed(engine, *TEXTS)
        alone = np.concatenate([embed(engine, text) for text in TEXTS])
        in_eights = np.concatenate([embed(engine, *TEXTS[at : at + 8]) for at in range(0, len(TEXTS), 8)])
        assert np.abs(together - alone).max() < 1e-6
        assert np.abs(in_eights - alone).max() < 1e-6

    @settings(max_examples=20)
    @given(st.permutations(range(MAX_BATCH + 2)))
    def test_keeps_the_order_of_the_texts(self, engine, order):
        in_order = embed(engine, *VARIED)
        assert np.abs(embed(engine, *(VARIED[at] for at in order)) - in_order[order]).max() < 1e-6

    @pytest.mark.req("B10.1")
    def test_reads_nothing_as_one_space(self, engine):
        nothing, empty, space = embed(engine, None, "", " ")
        assert (nothing == space).all()
        assert (empty == space).all()

    @pytest.mark.req("B10.1")
    def test_embeds_a_single_text(self, engine):
        assert embed(engine, "hello").shape == (1, engine.dims)

    @pytest.mark.req("B10.3", "G20", "N23")
    def test_has_a_name_that_resolves_to_itself(self, shipped, resolve):
        assert shipped.name.partition(":")[0] in SHIPPED
        assert resolve(shipped.name) is shipped

    def test_answers_threads_alike(self, engine):
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: embed(engine, *TEXTS[:40]), range(4)))
        for answer in answers:
            assert np.abs(answer - embed(engine, *TEXTS[:40])).max() < 1e-6


class TestResolving:
    @pytest.mark.req("B10.3", "B28.3")
    def test_gives_the_same_embedder_every_time(self):
        assert embedder("minilm") is embedder("minilm:all-MiniLM-L6-v2")

    @pytest.mark.req("B10.3", "B28.3")
    def test_loads_nothing(self):
        program = (
            "import sys; from engrain.engines import embedder; embedder('minilm')\n"
            "print(*{'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules))"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert run.stdout.split() == []

    def test_leaves_nothing_in_the_home_folder_for_a_telemetry_of_its_runtime(self, tmp_path):
        """The runtime sends none where it sees a machine of tests, so this process must not look like one."""
        hidden = {"CI", "GITHUB_ACTIONS", "ORT_RUNNING_UNIT_TESTS", "ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME"}
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        program = "from engrain.engines import embedder; embedder('minilm').embed(['canoe'], role='query')"
        ran = {**environment, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-c", program], env=ran, check=True)
        assert list(tmp_path.rglob("*")) == []

    def test_none_is_no_embedder(self):
        assert embedder("none") is None

    def test_refuses_an_unknown_name_with_the_nearest_and_the_known_ones(self):
        with pytest.raises(InvalidInput, match=r"'minlm': did you mean 'minilm'\? known are minilm, .*, none"):
            embedder("minlm")
        with pytest.raises(InvalidInput, match=r"unknown embedder 'tf-idf:xyz': known are minilm, "):
            embedder("tf-idf:xyz")


class TestMiniLM:
    def test_agrees_with_the_published_model(self):
        recorded = [np.frombuffer(base64.b64decode(entry["vector"]), "<f2") for entry in REFERENCE]
        reference = np.array(recorded, np.float64)
        reference /= np.linalg.norm(reference, axis=1, keepdims=True)
        cosines = (embed(embedder("minilm"), *TEXTS) * reference).sum(axis=1)
        assert len(cosines) >= 100
        assert cosines.min() >= 0.9995
        assert cosines.mean() >= 0.9998

    def test_reads_questions_and_documents_alike(self):
        asked = embedder("minilm").embed(TEXTS[:20], role="query")
        assert (asked == embedder("minilm").embed(TEXTS[:20], role="document")).all()

    @pytest.mark.parametrize(
        "question",
        [
            "\u0e09\u0e31\u0e19\u0e41\u0e1e\u0e49\u0e2d\u0e30\u0e44\u0e23",
            "\u6211\u5bf9\u4ec0\u4e48\u8fc7\u654f",
            "\U0001f389",
        ],
    )
    def test_finds_nothing_in_a_question_whose_words_it_does_not_know(self, question):
        model = embedder("minilm")
        assert not model.embed([question], role="query").any()
        assert model.embed([question, "hello"], role="query")[1].any()
        assert np.linalg.norm(model.embed([question], role="document")) == pytest.approx(1, abs=1e-5)

    def test_joins_surrogate_pairs_and_drops_lone_ones(self):
        pair, emoji, lone, without = embed(embedder("minilm"), "so \ud83d\ude00", "so 😀", "so\udc00 long", "so long")
        assert (pair == emoji).all()
        assert (lone == without).all()

    def test_reads_no_further_than_256_tokens(self):
        full, longer, shorter = embed(embedder("minilm"), "word " * 254, "word " * 254 + "end", "word " * 253 + "end")
        assert np.abs(full - longer).max() < 1e-6
        assert np.abs(full - shorter).max() > 1e-3

    @given(
        text=st.lists(fragments, max_size=30).map("".join), times=st.integers(1, 40), first_chars=st.integers(1, 3000)
    )
    @example(text="a " * 253 + "[MASK] b", times=1, first_chars=2 * 253 + len("[MA"))
    def test_reads_a_prefix_as_it_reads_the_whole(self, tokenizer, text, times, first_chars):
        whole = tokenizer.encode(text * times).ids
        assert leading_ids(tokenizer, text * times, first_chars) == whole
        assert len(whole) <= MAX_TOKENS

    @given(st.lists(st.integers(2, MAX_TOKENS)))
    def test_batches_every_text_once_within_both_limits(self, lengths):
        runs = list(batches(lengths))
        assert sorted(at for run in runs for at in run) == list(range(len(lengths)))
        for run in runs:
            assert len(run) <= MAX_BATCH
            assert len(run) * max(lengths[at] for at in run) <= MAX_BATCH_TOKENS

    def test_answers_alike_with_any_number_of_threads(self):
        one = embed(MiniLM(threads=1), *TEXTS)
        assert np.abs(one - embed(MiniLM(threads=2), *TEXTS)).max() < 1e-6

    def test_loads_once_when_threads_race(self):
        fresh = MiniLM()
        answers = run_together(lambda _: (embed(fresh, "hello"), fresh._engine), range(4))
        vectors, engines = zip(*answers, strict=True)
        assert len({id(engine) for engine in engines}) == 1
        assert np.abs(np.concatenate(vectors) - embed(embedder("minilm"), "hello")).max() < 1e-6

    def test_unpacks_its_weights_for_several_texts_or_after_a_few_calls(self):
        fresh = MiniLM()
        for _ in range(PACKED_RUNS):
            embed(fresh, "hello")
            assert not fresh._engine.is_unpacked
        embed(fresh, "hello")
        assert fresh._engine.is_unpacked
        several = MiniLM()
        embed(several, "hello", "there")
        assert several._engine.is_unpacked

    @pytest.mark.parametrize("text", ["hello", "a longer sentence about Lisbon, music and trains", "word " * 300, ""])
    def test_gives_a_first_text_the_vector_of_any_other(self, text):
        fresh = MiniLM()
        first = embed(fresh, text)
        assert not fresh._engine.is_unpacked
        assert np.abs(first - embed(embedder("minilm"), text, "another")[:1]).max() < 1e-6

    def test_a_first_text_takes_half_the_memory(self):
        """Unpacked weights are 42 MB, and twice that while a session is made."""
        program = (
            "import sys, re; from pathlib import Path; from engrain.engines import embedder\n"
            "embedder('minilm').embed(['hello', 'there'][: int(sys.argv[1])], role='query')\n"
            "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
        )
        peaks_kb = [
            int(subprocess.run([sys.executable, "-c", program, str(texts)], capture_output=True, check=True).stdout)
            for texts in (1, 2)
        ]
        assert peaks_kb[0] < peaks_kb[1] - 90_000

    def test_maps_the_weights_of_a_first_text_and_copies_none(self):
        """To read 24 MB into the graph and to copy them from there was a tenth of a command that asks one question."""
        program = (
            "from pathlib import Path; from engrain.engines import embedder\n"
            "embedder('minilm').embed(['hello'], role='query')\n"
            "maps = [line.split() for line in Path('/proc/self/maps').read_text().splitlines()]\n"
            "spans = [line[0].split('-') for line in maps if line[-1].endswith('minilm/weights.bin')]\n"
            "print(sum(int(end, 16) - int(start, 16) for start, end in spans))"
        )
        mapped = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        assert int(mapped) >= 23_000_000
        assert (FOLDER / "model.onnx").stat().st_size < 100_000

    def test_ships_the_files_it_was_built_with(self):
        facts = json.loads((FOLDER / "provenance.json").read_bytes())
        for name, built in facts["files"].items():
            content = (FOLDER / name).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (built["bytes"], built["sha256"])
        assert facts["files"]["tokenizer.json"]["sha256"] == facts["published_sha256"]["tokenizer.json"]
        assert "Apache License" in (FOLDER / "LICENSE").read_text(encoding="utf-8")
        assert facts["model"] in (FOLDER / "NOTICE").read_text(encoding="utf-8")


class TestDamage:
    @pytest.mark.parametrize("name", ["model.onnx", "weights.bin", "tokenizer.json", "provenance.json"])
    def test_a_missing_file_says_what_to_do(self, copy, name):
        (copy / name).unlink()
        with pytest.raises(EngineUnavailable, match=rf"minilm.*{name}.*pip install --force-reinstall engrain"):
            embed(MiniLM(folder=copy), "hello")

    @pytest.mark.parametrize("name", ["model.onnx", "weights.bin", "tokenizer.json"])
    def test_one_wrong_bit_is_found(self, copy, name):
        """The runtime would load the model and answer nonsense."""
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        replace(copy / name, content)
        with pytest.raises(EngineUnavailable, match=rf"{name} is damaged"):
            embed(MiniLM(folder=copy), "hello")

    @pytest.mark.parametrize("name", ["model.onnx", "weights.bin", "tokenizer.json"])
    def test_an_empty_file_is_named(self, copy, name):
        """A full disk leaves one, and no map is made of it."""
        replace(copy / name, b"")
        with pytest.raises(EngineUnavailable, match=rf"{name} is damaged: it is empty"):
            embed(MiniLM(folder=copy), "hello")

    @pytest.mark.parametrize("content", [b"", b"not json", b"[]", b'{"files": {"model.onnx": {}}}'])
    def test_unreadable_provenance_says_what_to_do(self, copy, content):
        replace(copy / "provenance.json", content)
        with pytest.raises(EngineUnavailable, match="pip install --force-reinstall engrain"):
            embed(MiniLM(folder=copy), "hello")

    def test_an_interrupt_is_no_failure_of_the_model(self, monkeypatch):
        """A Ctrl-C while the runtime's compiled module starts comes out of it as an ImportError."""

        def start(*_, **__):
            raise ImportError("initialization failed") from KeyboardInterrupt("by Ctrl-C")

        monkeypatch.setattr(minilm, "_open", start)
        with pytest.raises(KeyboardInterrupt, match="by Ctrl-C"):
            embed(MiniLM(), "hello")

    def test_a_model_the_runtime_refuses_says_what_to_do(self, copy):
        replace(copy / "model.onnx", b"not a model")
        replace(copy / "provenance.json", json.dumps(provenance_of(copy)).encode())
        with pytest.raises(EngineUnavailable, match="pip install --force-reinstall engrain"):
            embed(MiniLM(folder=copy), "hello")

    def test_a_failing_run_is_unavailability_too(self, copy):
        """A token id beyond the table passes the loading and fails in the runtime."""
        vocabulary = json.loads((copy / "tokenizer.json").read_bytes())
        vocabulary["model"]["vocab"]["hello"] = 40_000
        replace(copy / "tokenizer.json", json.dumps(vocabulary).encode())
        replace(copy / "provenance.json", json.dumps(provenance_of(copy)).encode())
        engine = MiniLM(folder=copy)
        assert embed(engine, "goodbye").shape == (1, 384)
        with pytest.raises(EngineUnavailable, match="failed on a text"):
            embed(engine, "goodbye", "hello")

    def test_no_texts_need_no_files(self, tmp_path):
        assert embed(MiniLM(folder=tmp_path)).shape == (0, 384)

    def test_a_repaired_folder_is_found_by_the_next_call(self, copy):
        engine = MiniLM(folder=copy)
        model = copy / "model.onnx"
        model.rename(copy / "elsewhere")
        with pytest.raises(EngineUnavailable):
            embed(engine, "hello")
        (copy / "elsewhere").rename(model)
        assert np.abs(embed(engine, "hello") - embed(embedder("minilm"), "hello")).max() < 1e-6


def provenance_of(folder: Path) -> dict:
    """A provenance that vouches for the files as they are."""
    names = ("model.onnx", "weights.bin", "tokenizer.json")
    return {"files": {name: {"crc32": f"{zlib.crc32((folder / name).read_bytes()):08x}"} for name in names}}
