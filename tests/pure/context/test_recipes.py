import pytest

from engrain.context.recipes import ENGRAIN, QUOTAS, RECIPES, SECTIONS, build_recipes
from engrain.errors import InvalidInput


def test_the_usual_settings_give_the_recipes_that_ship():
    assert build_recipes(SECTIONS, QUOTAS, 150) == RECIPES


@pytest.mark.req("B34.2", "N13")
def test_order_and_shares_are_the_settings_own():
    made = build_recipes(["said", "facts"], {"said": 0.75}, 40)
    assert [section.name for section in made["engrain"].sections] == ["said", "facts"]
    assert [section.name for section in made["butler"].sections] == ["facts"]
    assert made["engrain"].quotas == {"said": 0.75}
    assert [made[name].candidates for name in ("engrain", "butler", "assistant")] == [40, 20, 20]
    assert made["engrain"].kinds == ("episode", "fact")


@pytest.mark.parametrize(
    ("order", "quotas", "said"),
    [
        (["fact"], {}, "section 'fact' is unknown; choose one of: profile, facts"),
        ((), {"fact": 0.1}, "section 'fact' is unknown"),
        ((), {"facts": 1.1}, "quota of facts is 1.1; it must lie in"),
        ((), {"facts": -0.1}, "quota of facts"),
        ((), {"facts": 0.6, "rules": 0.6}, "add up to 1.2; at most 1"),
    ],
)
def test_what_is_no_order_and_no_share_is_refused(order, quotas, said):
    with pytest.raises(InvalidInput, match=said):
        build_recipes(order, quotas, 150)


def test_ten_tenths_are_a_whole():
    assert build_recipes((), dict.fromkeys(SECTIONS[1:], 0.2), 150)["engrain"].quotas["said"] == 0.2


def test_a_small_budget_asks_for_fewer_candidates():
    assert [ENGRAIN.candidates_for(tokens) for tokens in (0, 500, 1_000, 1_500, 9_000)] == [50, 50, 100, 150, 150]
    assert RECIPES["butler"].candidates_for(9_000) == 20
