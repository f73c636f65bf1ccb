"""Whom a name may mean: four tiers with the scores of the entity resolution that agents know."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.entities.registry import MERGED_INTO
from engrain.domain.text.similarity import similarity
from engrain.entities.resolution import boost, match_name, parse_hints, rank_matches
from engrain.errors import InvalidInput
from tests.support.sample_records import entity, fact

NAMES = st.text(alphabet="abnAB Né'-1", min_size=1, max_size=10)


def shown(matches):
    return [(match.canonical_name, match.name_match, match.score) for match in matches]


@pytest.mark.req("B17.1")
@pytest.mark.parametrize("name", ["Ana María", "ana maría", "  ANA  MARÍA "])
def test_a_canonical_name_scores_100_whatever_its_case(name):
    assert shown(rank_matches(name, [entity("Ana María")])) == [("Ana María", "exact", 100.0)]


@pytest.mark.req("B17.1")
def test_a_tombstone_is_no_candidate():
    assert rank_matches("Ana", [entity("Ana", aliases=("Annie",), metadata={MERGED_INTO: "x"})], fuzzy=True) == []


@pytest.mark.req("B17.2")
def test_an_alias_scores_80_whatever_its_case():
    assert shown(rank_matches("THE boss", [entity("Ana", aliases=("A.", "The Boss"))])) == [("Ana", "alias", 80.0)]


@pytest.mark.req("B17.3")
def test_what_begins_with_or_holds_the_name_scores_50():
    known = [entity("Anatole"), entity("Johanna"), entity("Ben", aliases=("Banana Ben",)), entity("Cleo")]
    assert shown(rank_matches("ana", known)) == [("Anatole", "prefix", 50.0), ("Ben", "prefix", 50.0)]
    assert shown(rank_matches("anna", known)) == [("Johanna", "prefix", 50.0)]


@pytest.mark.req("B17.3")
def test_a_percent_sign_is_a_character():
    assert shown(rank_matches("%", [entity("Ana"), entity("100%")])) == [("100%", "prefix", 50.0)]


@pytest.mark.req("B17.4")
def test_what_is_alike_scores_20_and_only_where_it_is_asked_for():
    known = [entity("Katherine"), entity("Ben")]
    assert similarity("catherine", "katherine") >= 0.3
    assert rank_matches("Catherine", known) == []
    assert shown(rank_matches("Catherine", known, fuzzy=True)) == [("Katherine", "fuzzy", 20.0)]


@pytest.mark.req("B17.4")
def test_a_name_of_two_characters_is_like_nothing():
    assert similarity("jo", "jon") >= 0.3
    assert rank_matches("Jo", [entity("Jn Jo"[::-1])], fuzzy=True) == []
    assert rank_matches("on", [entity("oh no")], fuzzy=True) == []


@pytest.mark.req("B17.4")
def test_what_an_earlier_tier_found_is_not_merely_alike():
    known = [entity("Ana"), entity("Anna", aliases=("ana",)), entity("Ana Lopez"), entity("Anaa")]
    assert [match.name_match for match in rank_matches("Ana", known, fuzzy=True)] == [
        "exact",
        "alias",
        "prefix",
        "prefix",
    ]


@pytest.mark.req("B17.5")
def test_words_that_facts_share_with_hints_raise_a_candidate_by_up_to_20():
    baker, tram = entity("Ana", entity_type="person"), entity("Ana", entity_type="project")
    facts = {
        baker.id: [fact("a bakery in Lisbon", predicate="runs", entity_id=baker.id)],
        tram.id: [fact("trams", predicate="maps", entity_id=tram.id)],
    }
    hints = parse_hints({"topic": "the bakery", "mentioned_with": ["Lisbon"]})
    first, second = rank_matches("Ana", [tram, baker], hints=hints, facts=facts)
    assert (first.entity_id, second.entity_id) == (baker.id, tram.id)
    assert first.score == round(100 + 20 * 2 / 3, 4)  # bakeri, lisbon of run, bakeri, lisbon
    assert second.score == 100.0


@pytest.mark.req("B17.5")
def test_a_boost_is_the_jaccard_overlap_times_20():
    assert boost({"tea"}, [fact("tea", predicate="tea")]) == 20.0
    assert boost({"tea", "cake"}, [fact("tea", predicate="drinks")]) == 20 * (1 / 3)
    assert boost(set(), [fact("tea")]) == boost({"tea"}, []) == 0.0


@pytest.mark.req("B17.6")
def test_domain_scores_are_added_to_whom_they_name():
    ana, anatole = entity("Ana"), entity("Anatole")
    hints = parse_hints({"domain_scores": {anatole.id: 60.55557, "nobody": 9}})
    assert shown(rank_matches("ana", [ana, anatole], hints=hints)) == [
        ("Anatole", "prefix", 110.5556),
        ("Ana", "exact", 100.0),
    ]


@pytest.mark.req("B17.7")
def test_candidates_come_by_score_then_by_name():
    known = [entity("Ana Z"), entity("Ana B"), entity("x", aliases=("ana",)), entity("Ana"), entity("Anna")]
    found = rank_matches("ana", known, fuzzy=True)
    assert shown(found) == [
        ("Ana", "exact", 100.0),
        ("x", "alias", 80.0),
        ("Ana B", "prefix", 50.0),
        ("Ana Z", "prefix", 50.0),
        ("Anna", "fuzzy", 20.0),
    ]
    assert set(found[1].to_dict()) == {
        *("entity_id", "canonical_name", "entity_type", "score", "name_match", "aliases")
    }
    assert found[1].to_dict()["aliases"] == ["ana"]


@pytest.mark.req("B17.8")
def test_a_name_that_nobody_has_has_no_candidates():
    assert rank_matches("Zoe", [entity("Ana")], fuzzy=True) == rank_matches("", [entity("Ana")], fuzzy=True) == []


@given(NAMES, st.lists(NAMES, min_size=1, max_size=4))
def test_a_tier_is_what_its_definition_says_and_no_earlier_one(name, names):
    known = entity(names[0], aliases=tuple(names[1:]))
    keys = [" ".join(each.casefold().split()) for each in names]
    asked = " ".join(name.casefold().split())
    match match_name(known, name, fuzzy=True):
        case "exact":
            assert asked == keys[0]
        case "alias":
            assert asked in keys[1:]
        case "prefix":
            assert asked not in keys
            assert any(asked in key for key in keys)
        case "fuzzy":
            assert not any(asked in key for key in keys)
            assert max(similarity(asked, key) for key in keys) >= 0.3
        case None:
            assert not asked or not any(asked in key for key in keys)


@given(st.lists(NAMES, max_size=6), NAMES)
def test_the_order_of_proposals_does_not_matter(names, asked):
    known = [entity(name) for name in names]
    found = rank_matches(asked, known, fuzzy=True)
    assert found == rank_matches(asked, known[::-1] + known, fuzzy=True)
    assert [-each.score for each in found] == sorted(-each.score for each in found)
    assert all(math.isfinite(each.score) for each in found)


@pytest.mark.parametrize(
    "hints",
    [
        "topic",
        {"topics": "x"},
        {"topic": 3},
        {"mentioned_with": 3},
        {"domain_scores": [1]},
        {"domain_scores": {"x": "much"}},
    ],
)
def test_a_hint_that_cannot_be_meant_is_refused(hints):
    with pytest.raises(InvalidInput):
        parse_hints(hints)
