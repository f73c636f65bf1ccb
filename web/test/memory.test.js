/** One memory: what it shows, what can be done with it and undone, and texts that want to be more than text. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, open, world } from "./page.js";

async function act(page, name, consequence) {
  await page.getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("What will happen").waitFor();
  await dialog.getByText(consequence).waitFor();
  return dialog;
}

test("a fact shows its versions, the episode it is from, its links and its events", async () => {
  const page = await open(`#/memory/${world.ids.lisbon}`);
  await page.getByRole("heading", { name: "History" }).waitFor();
  await page.locator(".timeline").getByText("Porto").waitFor();
  assert.equal(await page.locator(".quote mark").first().textContent(), "Lisbon");
  await page.locator("[aria-labelledby=links]").getByText("this supersedes").waitFor();
  await page.getByRole("row", { name: /fact created/ }).waitFor();
});

test("a correction says what happens, takes the place of the fact, and is undone", async () => {
  const { id } = await ask("POST", "/v1/facts", { content: "blue", subject: "Ana", predicate: "bike colour" });
  const page = await open(`#/memory/${id}`);
  const dialog = await act(page, "Correct", "stays readable in the history");
  const save = dialog.getByRole("button", { name: "Correct" });
  assert.ok(await save.isDisabled());
  await dialog.getByLabel("What is right").fill("green");
  await save.click();
  await page.getByRole("heading", { name: "green", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("heading", { name: "blue", level: 1 }).waitFor();
  const facts = await ask("GET", "/v1/facts?subject=Ana&predicate=bike%20colour");
  assert.deepEqual(facts.items.map(({ content }) => content), ["blue"]);
});

test("what is confirmed has an event, and what is forgotten leaves every search until it is undone", async () => {
  const { id } = await ask("POST", "/v1/facts", { content: "walnuts", subject: "Ana", predicate: "is allergic to", tags: ["health"] });
  const page = await open(`#/memory/${id}`);
  await (await act(page, "Confirm", "decay begins anew")).getByRole("button", { name: "Confirm" }).click();
  await page.getByRole("row", { name: /confirmed/ }).waitFor();
  await (await act(page, "Forget", "leaves every search")).getByRole("button", { name: "Forget" }).click();
  await page.getByText("retracted").first().waitFor();
  assert.deepEqual((await ask("GET", "/v1/facts?predicate=is%20allergic%20to")).items, []);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction((id) => !location.hash.includes(id), id);
  const [again] = (await ask("GET", "/v1/facts?predicate=is%20allergic%20to")).items;
  assert.deepEqual([again.content, again.tags], ["walnuts", ["health"]]);
});

for (const [kind, path, body] of [["rule", "/v1/rules", { content: "Ask before you book." }], ["episode", "/v1/episodes", { content: "I lost my keys.", speaker: "Ana", session: "keys" }]]) {
  test(`a forgotten ${kind} comes back by undo`, async () => {
    const { id } = await ask("POST", path, body);
    const page = await open(`#/memory/${id}`);
    await (await act(page, "Forget", "stays readable by its id")).getByRole("button", { name: "Forget" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.waitForFunction((id) => !location.hash.includes(id), id);
    await page.getByRole("heading", { name: body.content, level: 1 }).waitFor();
    await page.getByText("Undone.").waitFor();
  });
}

test("what comes back by undo is for those who saw it, and for as long as it had", async () => {
  const tess = { "Engrain-Agent": "assistant", "Engrain-User": "tess" };
  const agent = { "Engrain-Agent": "assistant" };
  await ask("POST", "/v1/pools", { name: "kitchen", members: ["assistant", "cook"] }, "admin", agent);
  const ids = [];
  for (const [path, body, who, scope] of [
    ["facts", { content: "vegetarian", subject: "user", predicate: "diet", scope: "user" }, tess, "user:tess"],
    ["facts", { content: "no salt", subject: "user", predicate: "diet", scope: "pool:kitchen" }, tess, "user:tess/pool:kitchen"],
    ["facts", { content: "until 22:00", subject: "desk", predicate: "opens" }, agent, "assistant"],
    ["rules", { content: "Wash your hands." }, tess, "user:tess/assistant"],
    ["episodes", { content: "I am at the desk.", ttl_days: 3 }, tess, "user:tess/assistant"],
  ]) {
    const stored = await ask("POST", `/v1/${path}`, body, "admin", who);
    assert.equal(stored.scope, scope);
    ids.push(stored);
  }
  const page = await open("#/search");
  await page.getByLabel("User", { exact: true }).fill("tess");
  await Promise.all([page.waitForResponse(/caller/), page.keyboard.press("Enter")]);
  for (const { id, content, scope, expires_at: expires } of ids) {
    await page.evaluate((hash) => { location.hash = hash; }, `#/memory/${id}`);
    await page.getByRole("heading", { name: content, level: 1 }).waitFor();
    await (await act(page, "Forget", "leaves every search")).getByRole("button", { name: "Forget" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.waitForFunction((id) => !location.hash.includes(id), id);
    const again = await ask("GET", `/v1/memories/${page.url().split("/").at(-1)}`, undefined, "admin", tess);
    assert.deepEqual([again.content, again.scope], [content, scope]);
    assert.ok(expires === undefined || Math.abs(Date.parse(again.expires_at) - Date.parse(expires)) < 600_000, again.expires_at);
  }
});

test("what cannot come back where it was has no undo, and the page says so", async () => {
  const cook = { "Engrain-Agent": "cook" };
  await ask("POST", "/v1/pools", { name: "sauces", members: ["assistant", "cook"] }, "admin", cook);
  const { id } = await ask("POST", "/v1/episodes", { content: "The roux wants patience." }, "admin", cook);
  const copy = await ask("POST", "/v1/pools/contribute", { name: "sauces", id }, "admin", cook);
  const page = await open(`#/memory/${copy.id}`, { role: "writer" });
  await (await act(page, "Forget", "cannot be undone here")).getByRole("button", { name: "Forget" }).click();
  await page.getByRole("status").getByText("goes to the scope pool:sauces").waitFor();
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
});

test("a pending fact that was forgotten is shown as such, and cannot be confirmed", async () => {
  const turn = await ask("POST", "/v1/episodes", { content: "The account is DE00.", role: "tool" });
  const { id, pending } = await ask("POST", "/v1/facts", { content: "DE00", subject: "Ana", predicate: "account", source_episode_id: turn.id });
  assert.ok(pending);
  const page = await open(`#/memory/${id}`);
  await page.locator("header.title").getByText("pending").waitFor();
  await (await act(page, "Forget", "leaves every search")).getByRole("button", { name: "Forget" }).click();
  await page.locator("header.title").getByText("retracted").waitFor();
  assert.deepEqual(await page.locator(".actions button").allTextContents(), ["Erase"]);
});

test("an act after an undo says what it did, and can be undone itself", async () => {
  const { id } = await ask("POST", "/v1/facts", { content: "almonds", subject: "Ana", predicate: "cannot eat" });
  const page = await open(`#/memory/${id}`, { expects: [/404/] }); // the browser's own note that it is gone
  for (const turn of [1, 2]) {
    await (await act(page, "Forget", "leaves every search")).getByRole("button", { name: "Forget" }).click();
    await page.getByText("Forgotten.").waitFor();
    const before = page.url();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.waitForFunction((before) => location.href !== before, before);
    await page.getByText("Undone.").waitFor();
  }
  await (await act(page, "Erase", "cannot be undone")).getByRole("button", { name: "Erase" }).click();
  await page.getByText("Erased 1 memory.").waitFor();
});

test("erasing names what was derived, takes it along, and leaves an event", async () => {
  const turn = await ask("POST", "/v1/episodes", { content: "My code is swordfish." });
  const fact = await ask("POST", "/v1/facts", { content: "swordfish", subject: "safe", predicate: "code", source_episode_id: turn.id });
  await ask("POST", "/v1/links", { source_id: fact.id, target_id: turn.id, relation: "derived_from" });
  const page = await open(`#/memory/${turn.id}`, { expects: [/404/] }); // the browser's own note that it is gone
  const dialog = await act(page, "Erase", "cannot be undone");
  await dialog.getByText("1 memory").waitFor();
  await dialog.getByRole("button", { name: "Erase" }).click();
  await page.getByText("Erased 2 memories.").waitFor();
  await page.getByRole("heading", { name: "No memory to see" }).waitFor();
  await page.getByRole("row", { name: /memory erased/ }).waitFor();
  assert.equal(await page.getByText("swordfish").count(), 0);
});

test("Escape closes a dialog, nothing is done, and the focus is where it was", async () => {
  const page = await open(`#/memory/${world.ids.lisbon}`);
  await page.getByRole("button", { name: "Forget" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Forget");
  assert.equal((await ask("GET", `/v1/memories/${world.ids.lisbon}`)).state, "active");
});

test("hostile texts are text in lists, on their own, and in dialogs", async () => {
  const page = await open("#/search?session=hostile", { expects: [] });
  await page.evaluate(() => { window.attacked = false; });
  const elements = () => page.evaluate(() => [...document.querySelectorAll("main script, main iframe, main object, main form[action], main img, main svg, main style, main link, main [onerror], main [onload], main [onclick]")].map((element) => element.outerHTML));
  for (const { id, content } of world.hostile) {
    await page.evaluate((hash) => { location.hash = hash; }, `#/memory/${id}`);
    await page.locator("dd code", { hasText: id }).waitFor();
    assert.equal(await page.locator("h1").evaluate((heading) => heading.textContent), content);
    assert.deepEqual(await elements(), []);
  }
  await page.evaluate(() => { location.hash = "#/search"; });
  await page.locator(".list > li").first().waitFor();
  for (const { content } of world.hostile.slice(0, 4)) {
    await page.getByRole("searchbox").fill(content.slice(0, 60));
    await page.waitForFunction(() => document.querySelector(".results")?.getAttribute("aria-busy") === "false");
    assert.deepEqual(await elements(), []);
  }
  assert.equal(await page.evaluate(() => window.attacked), false);
});
