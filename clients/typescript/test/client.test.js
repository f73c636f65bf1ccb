// Against the server at ENGRAIN_URL, which asks for no key, and the one at ENGRAIN_KEYED_URL, which asks for ENGRAIN_KEY.
// ENGRAIN_CERTIFICATE is a file with a certificate that nobody has signed, and its key.
import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import {
  DatabaseUnreachable,
  Engrain,
  EngrainError,
  Forbidden,
  InvalidInput,
  NotFound,
  OutcomeUnknown,
  RateLimited,
  Unauthenticated,
} from "engrain";

const url = process.env.ENGRAIN_URL;
const NOBODY = "018f0000-0000-7000-8000-000000000000";
const memory = new Engrain({ url });

/** A server before the real one that answers as `answer` says, once for each of its items, and passes on the rest. */
async function standIn(answers, work) {
  const seen = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    seen.push({ url: request.url, key: request.headers["idempotency-key"], body: Buffer.concat(parts).toString() });
    const answer = answers.shift();
    const pass = async () => {
      const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !["host", "connection", "content-length"].includes(name)));
      const body = parts.length === 0 ? undefined : Buffer.concat(parts);
      return fetch(url + request.url, { method: request.method, headers, body });
    };
    if (answer === undefined || answer === "pass") {
      const got = await pass();
      response.writeHead(got.status, { "content-type": got.headers.get("content-type") ?? "" });
      response.end(await got.text());
    } else if (answer === "lose") {
      await (await pass()).text();
      response.destroy();
    } else if (answer !== "hang") {
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${server.address().port}`, seen);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function problem(status, code, headers = {}) {
  const body = JSON.stringify({ code, detail: `says ${code}`, request_id: "r", status });
  return { status, headers: { "content-type": "application/problem+json", ...headers }, body };
}

describe("verbs", () => {
  test("what is stored is found, with its identity", async () => {
    const ana = memory.agent("Zoë", { user: "Müller & Söhne", session: "🔧 tap", requestId: "r-1" });
    const turn = await ana.observe({ content: "I moved to Lisbon in May", speaker: "Ana" });
    assert.equal(turn.kind, "episode");
    assert.deepEqual([turn.agent, turn.session, turn.scope], ["Zoë", "🔧 tap", "user:Müller & Söhne/Zoë"]);
    const answer = await ana.recall({ query: "Lisbon", limit: 3 });
    assert.equal(answer.hits[0].memory.id, turn.id);
    assert.equal((await ana.events({ id: turn.id })).items[0].request_id, "r-1");
    assert.equal(await memory.agent("Zoë").get({ id: turn.id }), null);
    assert.equal((await ana.caller()).user, "Müller & Söhne");
  });

  test("a user that is there and no name is refused; null is none, and what is left out stays", async () => {
    const ana = memory.agent("identities", { user: "ana", session: "s" });
    for (const nobody of [undefined, 42, {}]) {
      assert.throws(() => ana.agent("identities", { user: nobody }), (error) => error instanceof InvalidInput && /^user is no text/.test(error.message));
      assert.throws(() => new Engrain({ url, session: nobody }), /session is no text/);
    }
    assert.throws(() => ana.agent(42), /agent is no text/);
    assert.throws(() => ana.agent("identities", { tenant: "other" }), /tenant is nothing that a client takes/);
    assert.equal((await ana.agent("identities", { user: null }).caller()).user, null);
    const { user, session } = await ana.agent(undefined, { session: null }).caller();
    assert.deepEqual([user, session], ["ana", null]);
  });

  test("groups, fields, lists and empty answers", async () => {
    const agent = memory.agent("groups");
    await agent.notes.save({ key: "k", content: "text" });
    assert.equal((await agent.notes.recall({ key: "k" })).content, "text");
    assert.equal(await agent.notes.recall({ key: "nothing" }), null);
    const entity = await agent.entities.create({ name: "Ana Reis", entity_type: "person", aliases: ["Anita"] });
    assert.equal((await agent.entities.get({ id: entity.id })).canonical_name, "Ana Reis");
    assert.ok(Array.isArray(await agent.entities.resolve({ name: "Anita" })));
    assert.equal(await agent.consolidation.isSessionConsolidated({ session: "s" }), false);
    assert.equal(await agent.pools.create({ name: "team", members: ["coder"] }).then((pool) => pool.name), "team");
    assert.equal(await agent.pools.delete({ name: "team" }), undefined);
    const fact = await agent.remember({ content: "Porto", subject: "Ana", predicate: "lives in" });
    const corrected = await agent.correct({ id: fact.id, content: "Braga" });
    assert.deepEqual((await agent.history({ id: corrected.id })).map((one) => one.content).sort(), ["Braga", "Porto"]);
  });

  test("a list is its first page, and all of it where it is iterated", async () => {
    const agent = memory.agent("pages", { session: "pages" });
    for (let number = 0; number < 7; number += 1) await agent.observe({ content: `turn ${number}` });
    const page = await agent.episodes({ session: "pages", limit: 3 });
    assert.equal(page.items.length, 3);
    assert.notEqual(page.next, null);
    const contents = [];
    for await (const turn of agent.episodes({ session: "pages", limit: 3 })) contents.push(turn.content);
    assert.deepEqual(contents, Array.from({ length: 7 }, (_, number) => `turn ${6 - number}`));
    assert.equal(await agent.episodes({ after: "x" }).catch((error) => error.code), "invalid_input");
    let isSettled = false;
    assert.equal((await agent.episodes({ limit: 1 }).finally(() => { isSettled = true; })).items.length, 1);
    assert.ok(isSettled);
  });

  test("files", async () => {
    const agent = memory.agent("files");
    await agent.remember({ content: "Lisbon", subject: "Ana", predicate: "lives in", scope: "files" });
    const { report, body } = await agent.export({ kinds: ["fact"] });
    assert.deepEqual(report.kinds, { fact: 1 });
    const path = join(await mkdtemp(join(tmpdir(), "engrain-")), "export.jsonl");
    await writeFile(path, body);
    const imported = await memory.agent("importer").importFile({ file: await openAsBlob(path), filename: "export.jsonl" });
    assert.equal(imported.path, "export.jsonl");
    const facts = [];
    for await (const fact of memory.agent("importer").facts({ subject: "Ana" })) facts.push(fact.agent);
    assert.ok(facts.includes("importer"));
    await assert.rejects(async () => agent.importFile({}), InvalidInput);
  });
});

describe("errors", () => {
  test("are classes with the server's words", async () => {
    await assert.rejects(memory.forget({ id: NOBODY }), (error) => {
      assert.ok(error instanceof NotFound && error instanceof EngrainError);
      assert.deepEqual([error.code, error.status, error.name], ["not_found", 404, "NotFound"]);
      assert.match(error.message, new RegExp(NOBODY));
      return true;
    });
    await assert.rejects(memory.observe({ content: "" }), InvalidInput);
    await assert.rejects(memory.observe({ content: "x", contents: "y" }), /did you mean content/);
    await assert.rejects(memory.get({ id: NOBODY, at: "x" }), /has no argument at/);
    await assert.rejects(memory.confirm({ id: ".." }), InvalidInput);
    await assert.rejects(memory.get({ id: "a\ud800" }), (error) => error instanceof InvalidInput && /^id /.test(error.message));
    for (const wrong of [NaN, Infinity, 5n]) {
      await assert.rejects(memory.remember({ content: "x", importance: wrong }), /importance has the number/);
      await assert.rejects(memory.observe({ content: "x", metadata: { deep: [wrong] } }), /metadata has the number/);
    }
    await assert.rejects(memory.observe({ content: "x", event_time: new Date("never") }), /event_time is an invalid Date/);
    await assert.rejects(memory.facts({ valid_at: new Date("never") }).then(), /valid_at is an invalid Date/);
    await assert.rejects(Promise.resolve(memory.facts({ after: "x" })), InvalidInput);
  });

  test("keys", async () => {
    const { ENGRAIN_KEYED_URL: keyed, ENGRAIN_KEY: key } = process.env;
    await assert.rejects(new Engrain({ url: keyed }).caller(), Unauthenticated);
    const ana = new Engrain({ url: keyed, key });
    const { agent, user, is_user_bound: isUserBound } = await ana.caller();
    assert.deepEqual([agent, user, isUserBound], ["butler", "ana", true]);
    await assert.rejects(ana.agent(undefined, { user: "ben" }).observe({ content: "x" }), Forbidden);
    await assert.rejects(ana.decay(), Forbidden);
  });

  test("addresses, keys and names that cannot be sent", () => {
    for (const wrong of ["http://example.org", "https://a:b@example.org", "https://example.org?x=1", "ftp://a", "x"]) {
      assert.throws(() => new Engrain({ url: wrong }), InvalidInput, wrong);
    }
    assert.throws(() => new Engrain({ url, key: "two words" }), InvalidInput);
    assert.throws(() => memory.agent("a\nb"), InvalidInput);
  });

  test("a Date is a time, in a body and in a query", async () => {
    const agent = memory.agent("dates");
    const fact = await agent.remember({ content: "Faro", subject: "Ana", predicate: "lived in", valid_from: new Date("2020-01-01T00:00:00Z"), valid_to: new Date("2021-01-01T00:00:00Z") });
    assert.match(fact.valid_from, /^2020-01-01T00:00:00/);
    const found = async (day) => (await agent.facts({ subject: "Ana", valid_at: new Date(day) })).items.length;
    assert.deepEqual([await found("2020-06-01"), await found("2022-06-01")], [1, 0]);
  });

  test("an address under which no server is", async () => {
    const wrong = new Engrain({ url: `${url}/api` });
    const store = () => wrong.store.get({ namespace: ["a"], key: "k" });
    for (const read of [() => wrong.get({ id: NOBODY }), store, () => wrong.latestReflection(), () => wrong.caller()]) {
      await assert.rejects(read, (error) => {
        assert.ok(error instanceof DatabaseUnreachable, error.name);
        assert.deepEqual([error.code, error.status], ["no_such_route", 404]);
        assert.match(error.message, /look whether .*\/api is the address/);
        return true;
      });
    }
  });

  test("another program at the address", async () => {
    await standIn([{ status: 200, headers: {}, body: "hello" }, { status: 302, headers: { location: "/" }, body: "" }], async (at) => {
      await assert.rejects(new Engrain({ url: at }).caller(), /answered no JSON/);
      await assert.rejects(new Engrain({ url: at }).caller(), /redirects/);
    });
  });
});

describe("retries", () => {
  test("a write whose answer is lost is sent again under its key and stored once", async () => {
    await standIn(["lose", "lose"], async (at, seen) => {
      const turn = await new Engrain({ url: at, agent: "lost", session: "lost" }).observe({ content: "once" });
      assert.deepEqual([seen.length, new Set(seen.map((one) => one.key)).size], [3, 1]);
      const stored = await memory.agent("lost").episodes({ session: "lost" });
      assert.deepEqual(stored.items.map((one) => one.id), [turn.id]);
    });
  });

  test("a write that is once when it is done twice is sent again", async () => {
    const agent = memory.agent("twice", { session: "twice" });
    const { id } = await agent.observe({ content: "twice" });
    await standIn(["lose", "pass", "lose", "pass"], async (at, seen) => {
      const again = new Engrain({ url: at, agent: "twice", session: "twice" });
      assert.equal((await again.forget({ id })).id, id);
      assert.equal(await again.working.writeScratchpad({ text: "notes" }), "notes");
      assert.equal(seen.length, 4);
    });
  });

  test("a write without a key is not sent again", async () => {
    const fact = await memory.agent("unsure").remember({ content: "Porto", subject: "Bo", predicate: "lives in" });
    await standIn(["lose"], async (at, seen) => {
      const unsure = new Engrain({ url: at, agent: "unsure" });
      await assert.rejects(unsure.correct({ id: fact.id, content: "Faro" }), (error) => {
        assert.ok(error instanceof OutcomeUnknown);
        assert.match(error.message, /look whether it is there/);
        return true;
      });
      assert.equal(seen.length, 1);
    });
    assert.equal((await memory.agent("unsure").history({ id: fact.id })).length, 2);
  });

  test("what was refused before anything was done is asked again", async () => {
    const refused = [problem(503, "busy", { "retry-after": "0" }), problem(429, "rate_limited"), { status: 502, headers: {}, body: "bad" }];
    await standIn(refused, async (at, seen) => {
      await new Engrain({ url: at, agent: "again" }).observe({ content: "again" });
      assert.equal(seen.length, 4);
    });
    await standIn([problem(429, "rate_limited", { "retry-after": "60" })], async (at) => {
      await assert.rejects(new Engrain({ url: at, timeoutMs: 1_000 }).stats(), (error) => {
        assert.ok(error instanceof RateLimited);
        assert.deepEqual([error.retryAfterS, error.requestId], [60, "r"]);
        return true;
      });
    });
  });

  test("nobody at the address", async () => {
    let port;
    await standIn([], async (at) => { port = at; });
    await assert.rejects(new Engrain({ url: port, timeoutMs: 200 }).stats(), DatabaseUnreachable);
    await assert.rejects(new Engrain({ url: port, timeoutMs: 200 }).observe({ content: "x" }), DatabaseUnreachable);
  });

  test("what can never be sent is said at once: a certificate that is not trusted, a port that fetch refuses", async () => {
    const certificate = await readFile(process.env.ENGRAIN_CERTIFICATE);
    const secure = createSecureServer({ key: certificate, cert: certificate }, (_, response) => response.end("{}"));
    await new Promise((resolve) => secure.listen(0, "127.0.0.1", resolve));
    try {
      for (const at of [`https://localhost:${secure.address().port}`, "http://127.0.0.1:6000"]) {
        const begun = Date.now();
        await assert.rejects(new Engrain({ url: at }).forget({ id: NOBODY }), (error) => {
          assert.ok(error instanceof DatabaseUnreachable, `${error.name}: ${error.message}`);
          return /certificate or port is refused/.test(error.message);
        });
        assert.ok(Date.now() - begun < 20_000, "the call had 60 s");
      }
    } finally {
      secure.close();
    }
  });

  test("a call ends when it is aborted, while it waits for an answer and for a retry", async () => {
    await standIn(["hang"], async (at, seen) => {
      const stop = new AbortController();
      const call = new Engrain({ url: at }).stats({}, { signal: stop.signal });
      const ended = assert.rejects(call, (error) => error === stop.signal.reason);
      while (seen.length === 0) await new Promise(setImmediate);
      stop.abort(new Error("enough"));
      await ended;
    });
    await standIn([problem(429, "rate_limited", { "retry-after": "50" })], async (at, seen) => {
      const stop = new AbortController();
      const ended = assert.rejects(new Engrain({ url: at }).stats({}, { signal: stop.signal }), /enough/);
      while (seen.length === 0) await new Promise(setImmediate);
      stop.abort(new Error("enough"));
      await ended;
    });
  });

  test("a call that is not answered in time", async () => {
    await standIn(["hang"], async (at) => {
      const late = new Engrain({ url: at }).observe({ content: "late" }, { timeoutMs: 100 });
      await assert.rejects(late, (error) => error instanceof OutcomeUnknown && /repeat it with/.test(error.message));
    });
    await standIn(["hang"], async (at) => {
      const slow = new Engrain({ url: at }).consolidate({}, { timeoutMs: 100.5 });
      await assert.rejects(slow, (error) => error instanceof OutcomeUnknown && /within 101 ms/.test(error.message));
    });
  });

  test("a time limit that is none is refused", async () => {
    for (const wrong of [0, -5, NaN, Infinity, 2 ** 40, "5", null]) {
      assert.throws(() => new Engrain({ url, timeoutMs: wrong }), /^InvalidInput: timeoutMs is/);
      await assert.rejects(memory.stats({}, { timeoutMs: wrong }), /^InvalidInput: timeoutMs is/);
    }
  });
});
