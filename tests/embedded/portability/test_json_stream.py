import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.portability import json_stream
from engrain.portability.json_stream import JsonFault, JsonStream

DECODER = json.JSONDecoder()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SPACES = st.sampled_from([None, 0, 1])


def pieces_of(text, cuts):
    ends = sorted({min(cut, len(text)) for cut in cuts})
    return (text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True))


def read(text, cuts=()):
    return list(JsonStream(pieces_of(text, cuts), DECODER).values())


def parsed(text):
    value = json.loads(text)
    return value if isinstance(value, list) else [value]


@given(JSON, SPACES, st.booleans(), st.lists(st.integers(0, 200)))
def test_any_document_cut_anywhere_reads_as_the_parser_has_it(value, indent, is_ascii, cuts):
    text = f" {json.dumps(value, indent=indent, ensure_ascii=is_ascii)}\n"
    assert repr(read(text, cuts)) == repr(parsed(text))  # NaN is not equal to itself


def told(error):
    place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
    return f"not JSON: {error.msg} at {place}"


@given(
    JSON,
    SPACES,
    st.integers(0),
    st.sampled_from(["", "x", ",", "]", '"', "{", "\\", "\n"]),
    st.lists(st.integers(0, 200)),
)
def test_any_fault_is_told_as_the_parser_tells_it(value, indent, at, sign, cuts):
    text = json.dumps([1, value], indent=indent)
    text = text[: at % len(text)] + sign + text[at % len(text) + 1 :]
    problems = [None]
    try:
        expected = repr(parsed(text))
    except json.JSONDecodeError as error:
        expected, problems = None, [told(error)]
        if error.msg.startswith("Illegal trailing comma"):  # since Python 3.13; of the list itself we tell what follows
            problems.append(told(json.JSONDecodeError("Expecting value", text, text.index("]", error.pos))))
    try:
        found, fault = repr(read(text, cuts)), None
    except JsonFault as error:
        found, fault = None, str(error)
    assert found == expected
    assert fault in problems


def test_a_list_of_any_length_is_read_in_the_memory_of_an_item():
    item = json.dumps({"text": "word " * 100})
    pieces = (item + "," for _ in range(20_000))

    def text():
        yield "["
        yield from pieces
        yield item + "]"

    tracemalloc.start()
    count = sum(1 for _ in JsonStream(text(), DECODER).values())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (count, peak < 1_000_000) == (20_001, True)


def test_items_are_parsed_at_most_a_few_times_however_they_are_cut():
    class Counting(json.JSONDecoder):
        parsed = 0

        def raw_decode(self, text, idx=0):
            self.parsed += len(text) - idx
            return super().raw_decode(text, idx)

    decoder, text = Counting(), json.dumps([["x" * 100_000], 1])
    assert len(list(JsonStream(pieces_of(text, range(0, len(text), 100)), decoder).values())) == 2
    assert decoder.parsed < 4 * len(text)


@pytest.mark.parametrize("text", ["[" + "{}," * 700_000 + "{}]", '["' + "x" * 17 * 2**20 + '"]'])
@pytest.mark.parametrize("is_item", [True, False])
def test_a_value_that_would_take_much_memory_is_refused_before_it_is_parsed(text, is_item):
    size = 2**18
    text = f"[{text}]" if is_item else '{"a":' + text + "}"
    tracemalloc.start()
    with pytest.raises(JsonFault, match=r"one JSON value (of more than 16 million|that would take more than 128 MB)"):
        read(text, range(0, len(text), size))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < json_stream.MAX_VALUE_BYTES


def test_a_document_nested_too_deeply_is_refused():
    with pytest.raises(JsonFault, match="nested too deeply"):
        read("[" * 100_000)
