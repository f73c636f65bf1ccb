"""Turns and tags of coding assistants give no part of a secret away."""

import pytest

from engrain.domain.text.secrets import apply_policy
from engrain.portability.assistants.projects import tag_of
from engrain.portability.assistants.transcripts import parse_entry
from engrain.portability.assistants.turns import MOST_CHARACTERS, shorten

LINES = [f"MIIEow{number:02d}Q7x9Kp2mVz4Rt6Yw8Nb1Lc3Df5Gh0Js" + "A" * 20 for number in range(25)]
PRIVATE_KEY = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *LINES, "-----END RSA PRIVATE KEY-----"])
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
SECRETS = [
    (PRIVATE_KEY, LINES),
    (f"push with {TOKEN} now", [TOKEN[:20], TOKEN[-20:]]),
    ("export PGPASSWORD=s3cr3tPw99 now", ["s3cr3t", "tPw99"]),
    ('curl -sS -H "Accept: application/json" -u ana:s3cr3tPw99 x', ["s3cr3t", "tPw99"]),
]


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize(("secret", "parts"), SECRETS)
def test_a_long_paste_is_never_cut_within_a_secret(secret, parts, is_before):
    """The cut before the middle that is left out, and that behind it, at each place of the secret in turn."""
    for place in range(-5, len(secret) + 5, max(1, len(secret) // 40)):
        near = "x" * (MOST_CHARACTERS // 2 - place - 1) + "\n" + secret + "\n"
        far = "\n" + secret + "\n" + "x" * (MOST_CHARACTERS // 2 - place - 1)
        text = near + "y" * 30_000 if is_before else "y" * 30_000 + far
        stored = apply_policy(shorten(text), "mask")
        assert [part for part in parts if part in stored] == []
        assert 9_000 < len(stored) <= MOST_CHARACTERS + 10


def test_a_long_paste_without_secrets_keeps_its_beginning_and_its_end():
    text = "begin " + "x" * 100_000 + " end"
    assert shorten(text) == f"{text[:10_000]}\n[...]\n{text[-10_000:]}"


@pytest.mark.parametrize(
    ("origin", "tag"),
    [
        ("https://ana:p@ss@git.test/ana/shop.git", "project:git.test/ana/shop"),
        ("https://ana:s3cr3t@git.test:8443/ana/shop.git", "project:git.test/ana/shop"),
        ("https://ana@git.test/ana/shop", "project:git.test/ana/shop"),
        ("https://git.test/@ana/shop.git", "project:git.test/@ana/shop"),
        ("git@git.test:ana/shop.git", "project:git.test/ana/shop"),
        ("git.test:ana/a@b.git", "project:git.test/ana/a@b"),
    ],
)
def test_the_tag_of_a_project_has_no_part_of_its_password(tmp_path, origin, tag):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {origin}\n', encoding="utf-8")
    assert tag_of(tmp_path) == tag


@pytest.mark.parametrize("before", ["\n" * 200_000, " \n" * 100_000, '[remote "origin"]\n' * 20_000])
@pytest.mark.parametrize(
    "address", ["https://github.com/ana/blog.git", "https://github.com/ana/" + "/" * 200_000 + "x"]
)
def test_no_settings_of_a_hostile_repository_hold_up_its_tag(tmp_path, before, address):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f'{before}[remote "origin"]\n{before}\turl = {address}\n')
    assert tag_of(tmp_path).startswith("project:github.com/ana")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Push<system-reminder>Be brief</system-reminder> it<system-reminder>now</system-reminder>", "Push it"),
        ("<system-reminder>a<system-reminder>b</system-reminder>Push", "Push"),
        ("Push<system-reminder>it", "Push<system-reminder>it"),
        ("Push" + "<system-reminder>" * 60_000, "Push<system-reminder>"),
    ],
)
def test_reminders_of_the_program_are_left_out_of_a_turn_in_one_go(said, kept):
    found = parse_entry({"type": "user", "uuid": "1", "message": {"content": said}})
    assert found is not None
    assert found[1].text.startswith(kept)
    assert len(found[1].text) == len(kept) or len(kept) < 30 < len(found[1].text)
