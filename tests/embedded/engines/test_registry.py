"""provider:model: which engine it is, what it loads, and what is said where there is none."""

import subprocess
import sys

import pytest
from pydantic import SecretStr

from engrain.engines import ServiceAddress, embedder, reranker
from engrain.errors import EngineUnavailable, InvalidInput

HERE = ServiceAddress(url="http://127.0.0.1:9", key=SecretStr("sk-a"))


@pytest.mark.req("B10.3", "N23")
@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("minilm", "minilm:all-MiniLM-L6-v2"),
        ("sentence-transformers", "sentence-transformers:all-MiniLM-L6-v2"),
        ("openai", "openai:text-embedding-3-small"),
        ("cohere", "cohere:embed-v4.0"),
    ],
)
def test_a_provider_alone_means_its_default_model_and_is_one_object(short, name):
    assert embedder(short).name == name
    assert embedder(short) is embedder(name)


@pytest.mark.req("N23", "G20")
@pytest.mark.parametrize(
    "name",
    ["sentence-transformers:BAAI/bge-m3", "openai:nomic-embed-text:latest", "cohere:embed-english-v3.0", "openai:a:b"],
)
def test_a_name_with_a_model_is_that_model(name):
    assert embedder(name, address=HERE).name == name


def test_another_address_key_or_length_is_another_embedder():
    several = {
        id(embedder("openai:m", dims=dims, address=ServiceAddress(url=url, key=SecretStr(key))))
        for dims in (None, 8)
        for url in (None, "http://127.0.0.1:9")
        for key in ("a", "b")
    }
    assert len(several) == 8
    assert embedder("openai:m", address=HERE) is embedder("openai:m", address=HERE)


def test_rerankers_have_names_too():
    assert reranker("none") is None
    assert reranker("cross-encoder").name == "cross-encoder:cross-encoder/ms-marco-MiniLM-L6-v2"
    assert reranker("cohere").name == "cohere:rerank-v3.5"
    assert reranker("http:jina-reranker-v2", address=HERE).name == "http:jina-reranker-v2"
    assert reranker("tei", address=HERE).name == "tei:served"
    assert reranker("http:m", address=HERE) is reranker("http:m", address=HERE)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("minlm", "unknown embedder 'minlm': did you mean 'minilm'? known are minilm, sentence-transformers:MODEL, "),
        ("minilm:xyz", "unknown embedder 'minilm:xyz': did you mean 'minilm:all-MiniLM-L6-v2'? known"),
        ("opnai:m", "unknown embedder 'opnai:m': did you mean 'openai:m'? known"),
        ("openai:", "unknown embedder 'openai:': did you mean 'openai'? known"),
        ("none:", "unknown embedder 'none:': did you mean 'none'? known"),
        ("none:m", "unknown embedder 'none:m': did you mean 'none'? known"),
        ("", "unknown embedder '': known are"),
        ("tf-idf:xyz", "unknown embedder 'tf-idf:xyz': known are"),
    ],
)
def test_an_unknown_embedder_is_refused_with_the_nearest(spec, said):
    with pytest.raises(InvalidInput) as refused:
        embedder(spec)
    assert str(refused.value).startswith(said)
    assert str(refused.value).endswith("openai:MODEL, cohere:MODEL, none")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("http", "unknown re-ranker 'http': did you mean 'http:MODEL'? known are cross-encoder:MODEL, "),
        ("crossencoder:m", "unknown re-ranker 'crossencoder:m': did you mean 'cross-encoder:m'? known"),
        ("tei:m", "unknown re-ranker 'tei:m': did you mean 'tei'? known"),
    ],
)
def test_an_unknown_reranker_is_refused_with_the_nearest(spec, said):
    with pytest.raises(InvalidInput) as refused:
        reranker(spec)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("spec", ["http:m", "tei"])
def test_a_reranker_without_an_address_is_refused(spec):
    with pytest.raises(InvalidInput, match=r"has no address of its own: set reranking.url"):
        reranker(spec)


def test_a_providers_own_address_needs_a_key_and_says_where_it_is_looked_for():
    with pytest.raises(EngineUnavailable, match=r"openai:m has no key: set embedding.key or OPENAI_API_KEY$"):
        embedder("openai:m", dims=3).embed(["a"], role="query")
    with pytest.raises(EngineUnavailable, match=r"cohere:m has no key: set reranking.key or COHERE_API_KEY$"):
        reranker("cohere:m").rerank("q", ["a"], timeout_s=1)


@pytest.mark.req("B10.3")
@pytest.mark.parametrize(
    "call",
    [
        "embedder('openai')",
        "embedder('sentence-transformers')",
        "reranker('cohere')",
        "llm('openai:m')",
        "llm('pydantic-ai:openai:m')",
        "llm('command:cat')",
    ],
)
def test_choosing_an_engine_loads_nothing(call):
    program = (
        f"import sys; from engrain.engines import embedder, llm, reranker; {call}\n"
        "print(*{'numpy', 'httpx2', 'pydantic', 'pydantic_ai', 'sentence_transformers', 'torch'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize(
    ("package", "call", "extra"),
    [
        ("httpx2", "embedder('openai:m', dims=3, address=here).embed(['a'], role='query')", "http"),
        ("httpx2", "reranker('tei', address=here).rerank('q', ['a'], timeout_s=1)", "http"),
        ("httpx2", "llm('openai:m', address=here).complete(asked, timeout_s=1)", "http"),
        ("pydantic_ai", "llm('pydantic-ai:openai:m').complete(asked, timeout_s=1)", "llm"),
        (
            "sentence_transformers",
            "embedder('sentence-transformers').embed(['a'], role='query')",
            "sentence-transformers",
        ),
        ("sentence_transformers", "reranker('cross-encoder').rerank('q', ['a'], timeout_s=1)", "sentence-transformers"),
    ],
)
def test_a_package_that_is_not_installed_is_named_by_the_extra_that_brings_it(package, call, extra):
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from engrain.engines import ServiceAddress, embedder, llm, reranker; here = ServiceAddress(url='http://127.0.0.1:9')\n"
        "from engrain.domain.runs.completions import Prompt; asked = Prompt(system='s', user='u')\n"
        "from engrain.errors import EngineUnavailable\n"
        f"try: {call}\nexcept EngineUnavailable as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith(f"needs a package that is not installed: pip install 'engrain[{extra}]'")
