"""Small models for sentence-transformers, made on the spot: real ones where the package is installed, else stand-ins.

The real ones are BERTs of one layer with random weights: their vectors mean nothing, all around them is real.
"""

import json
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

DIMS = 32
STAND_IN = Path(__file__).with_name("stand_in")
HAS_PACKAGE = find_spec("sentence_transformers") is not None
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] what does ana like red apples and pears ben reads books about ships the a"


@contextmanager
def package():
    """sentence_transformers can be imported in the block: the real one, or the stand-in."""
    if HAS_PACKAGE:
        yield
        return
    sys.path.insert(0, str(STAND_IN))
    try:
        yield
    finally:
        sys.path.remove(str(STAND_IN))
        sys.modules.pop("sentence_transformers", None)


def make_embedder(folder):
    """The path of a model with vectors of DIMS numbers."""
    folder.mkdir()
    if not HAS_PACKAGE:
        (folder / "stand_in.json").write_text(json.dumps({"dims": DIMS}), encoding="utf-8")
        return str(folder)
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertModel

    bert = folder / "bert"
    BertModel(_config()).save_pretrained(bert)
    _tokenizer(folder).save_pretrained(bert)
    read = Transformer(str(bert), max_seq_length=64)
    made = SentenceTransformer(modules=[read, Pooling(DIMS)], prompts={"query": "what: "})
    made.save(str(folder / "model"))
    return str(folder / "model")


def make_cross_encoder(folder, labels=1):
    """The path of a model that gives `labels` numbers for a pair of texts."""
    folder.mkdir()
    if not HAS_PACKAGE:
        (folder / "stand_in.json").write_text(json.dumps({"labels": labels}), encoding="utf-8")
        return str(folder)
    from transformers import BertForSequenceClassification

    BertForSequenceClassification(_config(num_labels=labels)).save_pretrained(folder / "model")
    _tokenizer(folder).save_pretrained(folder / "model")
    return str(folder / "model")


def _config(**more):
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(WORDS.split()),
        hidden_size=DIMS,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        **more,
    )


def _tokenizer(folder):
    from transformers import BertTokenizerFast

    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(WORDS.split()), encoding="utf-8")
    return BertTokenizerFast(str(vocabulary))
