"""Secrets planted here are made up and put together, so that no scanner of sources takes them for real ones."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.secrets import SECRET_KINDS, apply_policy, apply_policy_to_value, find_secrets, may_hold_secret
from engrain.errors import InvalidInput

HEX = "8f3a1c9e7b2d4f6a8c0e1b3d5f7a9c2e"
RANDOM = "a8Fk2Lq9Zx7Vb3Nm5Tg1Hj6Rw4Yc0PdSeUi"

LABELS = {
    *(
        "private key",
        "akia",
        "sk",
        "skproj",
        "skant",
        "ghp",
        "githubpat",
        "glpat",
        "xoxb",
        "sklive",
        "aiza",
        "hf",
        "npm",
    ),
    *("sg.", "apikey", "authorization", "clientsecret", "secretaccesskey", "eyj", "password", "passwd", "pwd"),
    *("whsec", "xapp", "gocspx", "hooks.slack.com/services/", "hvs.", "dopv1", "agesecretkey1", "token", "secretkey"),
    *("secretkeybase", "accountkey", "privatekey", "accesskey", "variable", "option", "accesstoken", "postgres://"),
    *("passphrase", "postgresql://", "mongodb+srv://", "https://", "card of 16 digits", "card of 15 digits"),
}
PLANTED = {
    "private_key": [
        "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEow",
        "keep this: -----BEGIN " + "OPENSSH PRIVATE KEY-----",
        "-----BEGIN " + "PRIVATE KEY-----",
        "-----BEGIN " + "PGP PRIVATE KEY BLOCK-----",
        "MIIEow" + RANDOM + "\nQ7x9==\n-----END " + "RSA PRIVATE KEY-----",
    ],
    "api_key": [
        "use AKIA" + "IOSFODNN7QWERTYX for the bucket",
        "the key is sk-" + RANDOM,
        "sk-proj-" + RANDOM,
        "sk-ant-" + RANDOM + "-x",
        "ghp_" + (RANDOM + "Qz")[:36],
        "github_pat_" + (RANDOM * 3)[:70],
        "glpat-" + RANDOM[:20],
        "xoxb-" + "123456789012-" + RANDOM[:24],
        "sk_live_" + RANDOM[:24],
        "AIza" + RANDOM[:35],
        "hf_" + RANDOM[:34],
        "npm_" + (RANDOM + "Qz")[:36],
        "SG." + RANDOM[:22] + "." + RANDOM,
        'api_key = "' + RANDOM[:20] + '"',
        "Authorization: Bearer " + RANDOM,
        "client_secret=" + RANDOM[:16] + ";",
        "AWS_SECRET_ACCESS_KEY=" + RANDOM + "/bPx",
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/" + "K7MDENG/bPxRfiCY0123456789",
        "aws_secret_access_key = /JalrXUtnFEMI/" + "K7MDENG/bPxRfiCY0123456789",
        "TOKEN=" + HEX[:20],
        "export NPM_TOKEN=8f3a1c9e-7b2d-4f6a-" + "8c0e-1b3d5f7a9c2e",
        "GITHUB_TOKEN='" + HEX + "'",
        "VAULT_TOKEN=hvs." + "CAESIJ" + HEX,
        "my token is " + HEX,
        '{"token": "' + HEX + '"}',
        '{\\"access_token\\": \\"' + HEX + '\\"}',
        "Authorization: token " + HEX,
        "SECRET_KEY_BASE=" + HEX,
        "DefaultEndpointsProtocol=https;AccountKey=" + RANDOM + HEX + "==;EndpointSuffix=x",
        "SharedAccessKey=" + RANDOM + "+/8=",
        "private_key: " + HEX,
        "STRIPE_KEY=" + HEX,
        "deploy --token " + HEX,
        "whsec_" + HEX,
        "xapp-1-A024BE7LD-" + HEX,
        "GOCSPX-" + HEX,
        "https://hooks.slack.com/services/T024BE7LD/B0FFFFFFF/" + HEX,
        "hvs.CAESIJ" + HEX,
        "dop_v1_" + HEX * 2,
        "AGE-SECRET-KEY-1" + "QQ" + (HEX * 2).upper(),
    ],
    "jwt": ["eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + RANDOM],
    "password": [
        "password=hunter2",
        "Password: Tr0ub4dor&3",
        'the "password": "s3cr3t-Pa55"',
        "My wifi password is blue42horse.",
        "passwd=c0rrecthorse",
        "PWD: 9fj3kd8",
        "passphrase = correct#horse#battery",
        "DB_PASSWORD=p4rrot-Zebra",
        "PGPASSWORD=s3cr3tPw99 psql -h db",
        "dbPassword: s3cr3tPw99",
        "REDISCLI_AUTH=s3cr3tPw99 redis-cli ping",
        '{\\"password\\": \\"s3cr3tPw99\\"}',
        "os.environ['PGPASSWORD'] = 's3cr3tPw99'",
        "password: $3cr3tPa55!",
        "password=$Pa55w0rd!x",
        "password=army_7x9Kq2!",
        "{user: ana, password: s3cr3tPw99}",
        "password = '" + RANDOM * 10 + "'",
        "curl -u ana:s3cr3tPw99 https://example.org",
        "curl -sS \\\n  --user 'ana:s3cr3tPw99' https://example.org",
        "mysql -u root -ps3cr3tPw99 shop",
        "pg_dump --password s3cr3tPw99",
    ],
    "url_password": [
        "postgres://shop:p@ss/w0rd9@db/shop",
        "https://ana:p@ss@git.example.net/x.git",
        "mongodb+srv://ana:s3cr3t?9@db.example.net/x",
        "postgresql://app:k9Xv2pQ@db.internal/prod",
        "https://ana:q7mZp2@git.example.net/x.git",
    ],
    "card_number": [
        "card 4111 1111 1111 1111",
        "5555555555554444",
        "amex 3782 822463 10005 exp 04/29",
        "4242-4242-4242-4242",
    ],
}
HARMLESS = [
    "I forgot my password again.",
    "The password is required.",
    "password: required",
    "Password must have 8 characters and a digit.",
    "The password is 8 characters long.",
    "Her password is too short, she said.",
    "Set password=<your password> in the file.",
    "password=${DB_PASSWORD}",
    "password = os.environ['DB_PASSWORD']",
    "password=********",
    "password: ...",
    "password=changeme123 is only the placeholder.",
    "The password policy is strict: rotate every 90 days.",
    "password is set in config.toml",
    "password: see the vault",
    "passwords: four of them leaked",
    "The passphrase is a line of a poem.",
    "api_key: str | None = None",
    "api_key = settings.api_key",
    "The api key is stored in the keychain.",
    "api key: ask Ben for it on 2024-05-07",
    "API_TOKEN=your_token_goes_here1",
    "The secret is to whisk slowly.",
    "secret key: the one under the mat",
    "Her secret is safe with me: 1984.",
    "Authorization: Bearer <token>",
    "Authorization is handled by the gateway.",
    "The access token is valid for 15 minutes.",
    "client secret: rotate on 2025-01-31",
    "sk-learn is short for scikit-learn",
    "sk-this-is-a-long-hyphenated-name-of-nothing",
    "AKIA is a prefix that Amazon uses.",
    "AKIAAAAAAAAAAAAAAAAA",
    "hf_transformers_and_other_libraries_are_fine",
    "eyJ is how a JWT begins: header.payload.signature",
    "The public key begins -----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "https://example.org:8080/path@2x.png",
    "postgresql://localhost:5432/prod",
    "postgresql://user:password@localhost/db",
    "http://user:${PASS}@host/",
    "Order 4111 1111 1111 1112 has shipped.",
    "Call +49 1511 2345678 90 tomorrow.",
    "The id is 018f4c2e-7b1a-7d3e-9f00-4242424242424242.",
    "ISBN 978-3-16-148410-0 is out of print.",
    "IBAN DE89 3704 0044 0532 0130 00 is hers.",
    "Pi is 3.14159265358979323846, roughly.",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "timestamps 1715083200000 and 1715083200001",
    "0000 0000 0000 0000 is no card.",
    "tracking number 1234567812345678",
    "pwd: /home/ana/projects/engrain",
    "passwd is a command; pwd prints the folder.",
    "The token budget is 4096 tokens.",
    "auth token: none",
    "password=True",
    "Is your password: 'strong-enough'?",
    "secret=not-a-secret-at-all",
    "The token is in 1Password.",
    "The token is 1Password-managed-everywhere.",
    "password: see the wiki",
    "token = get_token()",
    "token = self.tokens2.next_one3(position)",
    "token = response.json()['access_token']",
    "token=next_page_token_2",
    "token: str = tokens[i2]",
    "token=$GITHUB_TOKEN",
    "token: ${{ secrets.NPM_TOKEN }}",
    "NPM_TOKEN=<your-npm-token>",
    "TOKEN=xxxxxxxxxxxxxxxxxxxx",
    "TOKEN=$(cat /run/token2)",
    "eos_token = '<|im_end|>'",
    "max_tokens=4096, top_p=0.9",
    "token: 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984",
    "password=my_password1",
    "password=your-password-1",
    "password: $DB_PASSWORD",
    "password=${DB_PASSWORD:-none1}",
    "password=%DB_PASSWORD2%",
    "password = getpass.getpass('Password: ')",
    "PGPASSWORD=$PGPASSWORD psql",
    "CACHE_KEY=user_42_profile_v2",
    "SORT_KEY=created_at",
    "SSH_KEY=~/.ssh/id_ed25519",
    "STRIPE_PUBLISHABLE_KEY=" + "8f3a1c9e7b2d4f6a8c0e",
    "PUBLIC_KEY=8f3a1c9e7b2d4f6a8c0e",
    "primary key: order_id2",
    "curl -u ana: https://example.org",
    "curl -u $USER:$PASSWORD https://example.org",
    "curl https://example.org && docker run -u user1:group22 shop",
    "docker run -u 1000:1000 shop",
    "git push -u origin main",
    "mysql -u root -p shop",
    "mkdir -p shop2000",
    "git log --pretty --password-file /run/pw1",
    "https://example.org:8080/@ana/post1",
    "postgres://localhost:5432/shop?contact=ana@example.org",
    "mail ana@example.org or see https://example.org/a:b1c2d3@e",
    "The file ends with -----END PUBLIC KEY-----",
    "xapp-1 is the prefix of an app token, whsec_ that of a webhook.",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in PLANTED.items() for text in texts])
def test_a_planted_secret_is_found_and_not_shown(kind, text):
    [secret] = find_secrets(text)
    assert secret.kind == kind
    label, mask, rest = secret.shown.partition("********")
    assert (mask, rest) == ("********", "")
    assert label.rstrip("= ").lower().replace("_", "").replace("-", "") in LABELS


@pytest.mark.parametrize("text", HARMLESS)
def test_what_looks_a_little_like_one_is_none(text):
    assert find_secrets(text) == []


def test_every_kind_is_planted():
    assert tuple(PLANTED) == SECRET_KINDS
    assert len(HARMLESS) >= 40


def test_several_stand_apart_and_in_order():
    text = "password=hunter2, card 4111111111111111, ghp_" + (RANDOM + "Qz")[:36]
    secrets = find_secrets(text)
    assert [secret.kind for secret in secrets] == ["password", "card_number", "api_key"]
    assert all(one.end <= other.start for one, other in itertools.pairwise(secrets))


@given(st.text(alphabet="password=: isk-AB12'\"@/.eyJ\n") | st.text())
def test_any_text_is_looked_through(text):
    for secret in find_secrets(text):
        assert 0 <= secret.start < secret.end <= len(text)


def test_a_huge_text_is_looked_through_to_its_end():
    assert len(find_secrets("password=hunter2 " + "password is a word " * 200_000)) == 1
    assert len(find_secrets(" " * 300_000 + "password=hunter2")) == 1
    assert find_secrets("1" * 300_000) == find_secrets("a:" * 300_000) == []
    assert len(find_secrets("-----END PRIVATE KEY-----\n" * 40_000)) == 40_000
    assert len(find_secrets("nQAb3\n" * 300_000 + "-----END PRIVATE KEY-----")) == 1


@pytest.mark.parametrize("sign", ["<", ">", "1", "."])
def test_values_of_many_signs_are_read_in_one_go(sign):
    """A pattern that tries again from every place would take minutes."""
    assert len(find_secrets(f"password=abcd1{sign * 3_900}é9 " * 250)) == (0 if sign == "." else 250)


@pytest.mark.parametrize("before", range(99_900, 100_030, 7))
def test_a_secret_is_found_once_wherever_the_parts_of_a_long_text_meet(before):
    text = "x" * before + " password=hunter2 " + "y" * 150_000
    [secret] = find_secrets(text)
    assert text[secret.start : secret.end] == "hunter2"


TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (f"push with {TOKEN} please", "push with ******** please"),
        (f"the key:\n{KEY}\nkeep it", "the key:\n********\nkeep it"),
        ("postgresql://ana:s3cr3tpw@db/x", "postgresql://ana:********@db/x"),
        ("card 4111 1111 1111 1111, thanks", "card ********, thanks"),
        ("password=hunter4471x and more", "password=******** and more"),
        (f"a log\n{KEY.partition('IIE')[2]}\nand more", "a log\n********\nand more"),
        (f"[...]\n{'Ab3' * 20}\n{KEY.partition('IIE')[2]} and more", "[...]\n******** and more"),
        (f"a log\nnQ{KEY.partition('IIE')[2]}\nand more", "a log\n********\nand more"),
        (f"> nnQ{KEY.partition('IIE')[2].replace(chr(10), chr(10) + '> ')}", "> ********"),
        (f"nQ\\nnQ{KEY.partition('IIE')[2]}\nand more", "********\nand more"),
        (f"Ab3\n\n\n{KEY.rpartition(chr(10))[2]}", "********"),
        ('{"user": "ana", "password": "s3cr3tPw99"}', '{"user": "ana", "password": "********"}'),
        ("connect(user, password=s3cr3tPw99).", "connect(user, password=********)."),
        ('the password is "walnut-river-52"', None),
        ("the guest Wi-Fi password is walnut-river-52", None),
        ("New wifi password: Sunshine99!", None),
        ("Guest network password: walnut-river-52", None),
        ("Initial admin password: s3cr3tPw99", "Initial admin password: ********"),
        ("WIFI_PASSWORD: s3cr3tPw99", "WIFI_PASSWORD: ********"),
        ("Passwort: Sonne99!", "Passwort: ********"),
        ("kennwort=Sonne99!", "kennwort=********"),
        ("Contraseña: Girasol77", "Contraseña: ********"),
        ("Mot de passe : Soleil88!", "Mot de passe : ********"),
        ("Palavra-passe: Girassol77", "Palavra-passe: ********"),
        ("senha: Girassol77", "senha: ********"),
        ("wachtwoord: Zonnig99", "wachtwoord: ********"),
        ("WLAN-Passwort: Sonne99!", None),
        ("Das Passwort ist Sonne99!", None),
        (f"my key is {TOKEN}", "my key is ********"),
        ("my card number is 4111 1111 1111 1111", "my card number is ********"),
        ("I moved to Lisbon in May", None),
        ("call me at 0171 555 0134", None),
    ],
)
def test_what_is_stored_has_no_secret_but_what_a_person_tells(text, stored):
    assert apply_policy(text, "mask") == (text if stored is None else stored)
    assert apply_policy(text, "keep") is text
    if stored is None:
        assert apply_policy(text, "refuse") is text
    else:
        with pytest.raises(InvalidInput, match=r"holds a secret \((api key|private key|url password|card|password)"):
            apply_policy(text, "refuse")


PIECES = [
    "ghp_",
    "sk-",
    "AKIA",
    "SG.",
    "eyJ",
    "hf_",
    "pwd",
    "pass",
    "key",
    "ID",
    ".eyJ",
    ":",
    "=",
    " is ",
    " \u0131s ",
    "://",
]
PIECES += ["-----BEGIN PRIVATE KEY-----", "4111 1111", " 1111 1111", "\u0664111111111111111", RANDOM, "\u212aey", "@x"]


@given(st.lists(st.sampled_from([*PIECES, *itertools.chain(*PLANTED.values())]), max_size=6).map("".join))
def test_a_text_that_is_not_looked_through_holds_no_secret(text):
    assert may_hold_secret(text) or not find_secrets(text)


@given(st.text())
def test_no_text_grows_another_secret_by_masking(text):
    masked = apply_policy(text, "mask")
    assert apply_policy(masked, "mask") == masked


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"command": f"push {TOKEN}"}, {"command": "push ********"}),
        ([{"input": [{"env": ["A=1", f"B={TOKEN}"]}]}], [{"input": [{"env": ["A=1", "B=********"]}]}]),
        ({"password": "s3cr3tPw99", "user": "ana"}, {"password": "********", "user": "ana"}),
        ({f"of {TOKEN}": 1}, {"of ********": 1}),
        ({"arguments": '{"password": "s3cr3tPw99"}'}, {"arguments": '{"password": "********"}'}),
        ({"password": "see the vault", "limit": 4, "done": None}, None),
        ({"note": "the password is walnut-river-52"}, None),
        ({"chat": "4111111111111111", "from": "4111111111111111@s.example"}, None),
        ({"card": "4111111111111111"}, {"card": "********"}),
        ({"note": "pay by 4111 1111 1111 1111"}, {"note": "pay by ********"}),
        ((), None),
    ],
)
def test_the_texts_of_a_value_are_masked_and_nothing_else(value, stored):
    assert apply_policy_to_value(value, "mask") == (value if stored is None else stored)
    assert apply_policy_to_value(value, "keep") is value
    if stored is None:
        assert apply_policy_to_value(value, "refuse") == value
    else:
        with pytest.raises(InvalidInput, match="holds a secret"):
            apply_policy_to_value(value, "refuse")
