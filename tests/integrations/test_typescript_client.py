"""The TypeScript client of clients/, compiled as it is published, against real servers."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from engrain import Memory
from tests.support.engrain import EngrainServer, keyed_server
from tests.support.ports import free_port

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
CONSUMER = """
import { Engrain, NotFound, type Episode, type Fact, type Page } from "engrain";
const memory: Engrain = new Engrain({ url: "https://example.org", key: "k", agent: "a", user: "u" });
const { signal } = new AbortController();
export const turn: Promise<Episode> = memory.observe({ content: "x", tags: ["a"] }, { signal, timeoutMs: 5 });
export const page: PromiseLike<Page<Fact>> = memory.facts({ subject: "Ana" });
export async function all(): Promise<string[]> {
  const contents: string[] = [];
  for await (const fact of memory.facts()) contents.push(fact.content);
  const found = await memory.get({ id: "x" });
  if (found?.kind === "fact") contents.push(found.subject);
  return contents;
}
export const wrong: boolean = new Error() instanceof NotFound;
// @ts-expect-error  content is required
memory.observe({});
// @ts-expect-error  there is no such argument
memory.observe({ content: "x", contents: "y" });
// @ts-expect-error  an answer may be missing
memory.get({ id: "x" }).then((memory) => memory.content);
"""


def run(*command, folder, **environment):
    """Return what a command prints; it has to end well."""
    ran = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the client with its development packages, compiled."""
    if shutil.which("npm") is None:
        pytest.fail("needs Node.js 20.3 or later, with npm, on the PATH")
    folder = tmp_path_factory.mktemp("client") / "typescript"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", folder=folder)
    run("npm", "run", "build", folder=folder)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with EngrainServer(tmp_path_factory.mktemp("server") / "memory.db") as server:
        yield server


def self_signed():
    """A certificate for localhost that signs itself, after its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=localhost")
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    written = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return written + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def test_its_tests_pass(package, server, tmp_path):
    of_ana = {"role": "writer", "agent": "butler", "user": "ana"}
    with keyed_server(tmp_path / "keyed.db", ana=of_ana) as (keyed, keys):
        (tmp_path / "certificate.pem").write_bytes(self_signed())
        urls = {"ENGRAIN_URL": server.address, "ENGRAIN_KEYED_URL": keyed.address, "ENGRAIN_KEY": keys["ana"]}
        urls["ENGRAIN_CERTIFICATE"] = str(tmp_path / "certificate.pem")
        shown = run("node", "--test", "--test-reporter=tap", "test/client.test.js", folder=package, **urls)
    counts = dict(re.findall(r"^# (\w+) (\d+)$", shown, re.MULTILINE))
    assert (counts["fail"], counts["skipped"], counts["cancelled"]) == ("0", "0", "0")
    assert int(counts["tests"]) >= 14


def test_the_program_of_its_readme_runs(package, server):
    [program] = re.findall(r"^```js\n(.*?)^```$", (package / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (package / "program.js").write_text(program)
    shown = run("node", "program.js", folder=package, ENGRAIN_URL=server.address)
    assert "lives in Lisbon" in shown
    assert shown.splitlines()[-1] == "not_found"


def test_a_server_killed_in_the_middle_of_its_writes_loses_and_doubles_nothing(package, tmp_path):
    """Each write is acknowledged once, when a server has stored it."""
    path, port = tmp_path / "memory.db", free_port()
    running = EngrainServer(path, "--port", port)
    try:
        environment = {**os.environ, "ENGRAIN_URL": running.address}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(["node", "test/writes.js"], cwd=package, env=environment, **pipes) as writer:
            acknowledged = []
            for _ in range(3):
                acknowledged += [writer.stdout.readline().strip() for _ in range(15)]
                running.process.kill()
                running.__exit__(RuntimeError)
                running = EngrainServer(path, "--port", port)
            acknowledged += [writer.stdout.readline().strip() for _ in range(15)]
            writer.stdin.close()
            acknowledged += writer.stdout.read().split("\n")[:-1]
        assert writer.returncode == 0
    finally:
        running.__exit__(None)
    with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
        agent = memory.agent("writer")
        stored = [turn.content for number in range(4) for turn in agent.episodes(f"session {number}", limit=1000)]
        stored += [fact.content for fact in agent.facts(include_inactive=True, limit=1000)]
    assert Counter(stored) == Counter(acknowledged)


def test_what_is_published_is_typed_and_needs_nothing(package, tmp_path):
    [packed] = json.loads(run("npm", "pack", "--json", "--pack-destination", str(tmp_path), folder=package))
    files = {file["path"] for file in packed["files"]}
    assert {"LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "src/index.ts"} <= files
    assert not any(name.startswith(("test", "node_modules")) for name in files)
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    install = ["npm", "install", "--offline", "--no-audit", "--no-fund", str(tmp_path / packed["filename"])]
    run(*install, folder=tmp_path)
    assert [path.name for path in (tmp_path / "node_modules").iterdir() if path.is_dir()] == ["engrain"]
    (tmp_path / "consumer.ts").write_text(CONSUMER)
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"]
    run("node", str(package / "node_modules" / "typescript" / "bin" / "tsc"), *options, "consumer.ts", folder=tmp_path)


def test_its_version_is_the_librarys_and_its_lock_file_names_no_host():
    from engrain import __version__

    assert json.loads((CLIENT / "package.json").read_text())["version"] == __version__
    lock = (CLIENT / "package-lock.json").read_text()
    assert '"integrity"' in lock
    assert '"resolved"' not in lock
