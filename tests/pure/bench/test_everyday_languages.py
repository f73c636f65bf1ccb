"""The scripts in several languages: the same steps in each, and answers that were said."""

import pytest

from bench.everyday.judging import holds_text
from bench.everyday.languages import LANGUAGES, format_languages, load_translation
from bench.everyday.parsing import ScriptError
from bench.everyday.runner import Verdict
from engrain.domain.text.analysis import words
from engrain.domain.text.languages import detect_language


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_steps_of_english_and_says_what_it_expects(language):
    script, english = load_translation(language), load_translation("en")
    assert [(step.verb, len(step.expectations)) for step in script.steps] == [
        (step.verb, len(step.expectations)) for step in english.steps
    ]
    assert len({step.session for step in script.steps}) == 25
    said = [step.text for step in script.steps if step.verb == "say"]
    for step in script.steps:
        for expectation in step.expectations:
            assert any(holds_text(text, expectation.wanted) for text in said), (language, step.text)


@pytest.mark.parametrize(
    ("language", "told"), [("de", "german"), ("es", "spanish"), ("fr", "french"), ("pt", "portuguese")]
)
def test_the_language_of_most_steps_is_told(language, told):
    steps = load_translation(language).steps
    share = sum(detect_language(words(step.text)) == told for step in steps) / len(steps)
    assert share > 0.9


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Ana: Hello.", "needs a script before it"),
        ("=== companion/cat\nHello.", "a step is"),
        ("=== companion/cat\n? Who?", "a question is"),
    ],
)
def test_a_line_that_is_no_step_is_named(tmp_path, text, problem):
    (tmp_path / "en.txt").write_text(text)
    with pytest.raises(ScriptError, match=rf"en\.txt:\d: .*{problem}"):
        load_translation("en", folder=tmp_path)


def test_the_table_has_a_line_for_each_language():
    script = load_translation("en")
    step = next(step for step in script.steps if step.expectations)
    verdicts = [
        Verdict(script=script, step=step, expectation=expectation, problem=problem)
        for expectation, problem in zip(step.expectations, (None, None, "no such line"), strict=True)
    ]
    table = format_languages({"en": {"engrain": verdicts, "vectors": []}})
    assert table.splitlines()[1].split() == ["English", "3", "66.7", "%", "-", "100.0", "%", "100.0", "%", "0.0", "%"]
