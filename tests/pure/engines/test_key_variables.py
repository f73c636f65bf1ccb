"""Variables of keys: the settings read them, and the engines name them in messages; neither may import the other."""

from engrain import config, engines


def test_the_settings_and_the_engines_know_the_same_variables():
    assert config._KEY_VARIABLES == engines._KEY_VARIABLES
