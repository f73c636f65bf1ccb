/** Search: hits as one types, explanations that add up, rankings side by side, filters, what was left out. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, open, tabTo, typeQuery, world } from "./page.js";

test("hits come as one types, and their bars add up to their scores", async () => {
  const page = await open("#/search");
  await typeQuery(page, page.getByRole("searchbox", { name: "Search the memory" }), "Where does Ana live?");
  const answer = await ask("POST", "/v1/recall", { query: "Where does Ana live?", limit: 20 });
  const shown = await page.locator(".hits > li").evaluateAll((rows) => rows.map((row) => {
    const parts = [...row.querySelectorAll(".bar span")];
    return { href: row.querySelector("a").hash, score: Number(row.querySelector(".number").textContent), sum: parts.reduce((sum, part) => sum + Number(part.title.match(/: (-?[\d.]+)/)[1]), 0), width: parts.reduce((sum, part) => sum + part.getBoundingClientRect().width, 0) };
  }));
  assert.deepEqual(shown.map(({ href }) => href), answer.hits.map(({ memory }) => `#/memory/${memory.id}`));
  for (const { score, sum, width } of shown) {
    assert.ok(Math.abs(score - sum) < 0.005, `${sum} is no ${score}`);
    assert.ok(Math.abs(width / shown[0].width - score / shown[0].score) < 0.03, "the bar is as long as the score is high");
  }
});

test("the table behind a bar is opened by keyboard, and sums up to the score", async () => {
  const page = await open("#/search?q=Lisbon");
  const why = page.locator(".hits button.why").first();
  await why.waitFor();
  await tabTo(page, why);
  await page.keyboard.press("Enter");
  const shares = await page.locator(".reasons tbody td:last-child").allTextContents();
  const total = Number(await page.locator(".reasons tfoot td").textContent());
  assert.ok(shares.length > 0);
  assert.ok(Math.abs(shares.reduce((sum, share) => sum + Number(share), 0) - total) < 0.005);
});

test("two rankings stand side by side for one question, and the address brings them back", async () => {
  const page = await open("#/search?q=Lisbon");
  await page.getByLabel("Ranking").selectOption("keyword");
  await page.getByLabel("Beside").selectOption("recency");
  await page.waitForFunction(() => [...document.querySelectorAll(".results .summary strong:first-child")].map((name) => name.textContent).join() === "keyword,recency");
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll(".results .summary").length === 2);
});

test("filters leave out what they say, and the rest is explained", async () => {
  const page = await open("#/search?q=Ana lives in");
  await page.locator(".hits > li").first().waitFor();
  await page.getByText("Filters").click();
  await page.getByLabel("Kind").selectOption("fact");
  await page.waitForFunction(() => [...document.querySelectorAll(".hits .badge:first-child")].every((badge) => badge.textContent === "fact"));
  await page.getByLabel("Kind").selectOption("");
  await page.getByLabel("Since").fill("2031-01-01");
  await page.keyboard.press("Tab");
  await page.getByText("0 hits of").waitFor();
  await page.getByLabel("Since").fill("");
  await page.keyboard.press("Tab");
  await page.getByLabel("Also what no longer holds").check();
  await page.locator(".hits").getByText("Porto").first().waitFor();
});

test("others that were left out are listed with the reason", async () => {
  const page = await open("#/search?q=turn");
  const dropped = page.locator(".dropped");
  await dropped.locator("summary").click();
  const { dropped: candidates } = await ask("POST", "/v1/recall", { query: "turn", limit: 20, explain: true });
  await dropped.locator(".reason").first().waitFor();
  assert.equal(await dropped.locator(".reason").count(), Math.min(10, candidates.length));
  assert.match(await dropped.locator(".reason").first().textContent(), /below the limit/);
  assert.equal(await dropped.locator("a.said").first().evaluate((link) => link.hash), `#/memory/${candidates[0].id}`);
  const { reference_count: before } = await ask("GET", `/v1/memories/${candidates[0].id}?count_references=false`);
  await dropped.getByRole("button", { name: "Show more" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".dropped .reason").length > 10);
  const { reference_count: after } = await ask("GET", `/v1/memories/${candidates[0].id}?count_references=false`);
  assert.equal(after, before, "to look is not to use");
});

test("a time that nobody understands is a sentence, not a blank page", async () => {
  const page = await open("#/search?q=Ana&since=never", { expects: [/422/] });
  await page.getByRole("alert").getByText("since").waitFor();
});

test("lists are read page by page, never whole", async () => {
  const page = await open("#/search?q=", {});
  const limits = [];
  page.on("request", (request) => request.url().includes("/v1/memories?") && limits.push(new URL(request.url()).searchParams.get("limit")));
  await page.locator(".list > li").first().waitFor();
  const first = await page.locator(".list > li").count();
  await page.getByRole("button", { name: "Show more" }).click();
  await page.waitForFunction((before) => document.querySelectorAll(".list > li").length > before, first);
  assert.ok(limits.every((limit) => Number(limit) <= 50), limits.join());
  assert.ok(world.count > 2 * first);
});

test("an address that is opened changes the search that is open", async () => {
  const page = await open("#/search?q=Lisbon");
  await page.locator(".hits > li").first().waitFor();
  const query = page.getByRole("searchbox", { name: "Search the memory" });
  await page.evaluate(() => { location.hash = "#/search?q=garden&kind=episode"; });
  await page.waitForFunction(() => document.getElementById("query").value === "garden");
  await page.getByText("Filters (1)").waitFor();
  await query.fill("Porto");
  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.getByRole("heading", { name: "Newest memories" }).waitFor();
  assert.equal(await query.inputValue(), "");
});

test("a day that something is believed on is all of it, as in the timeline", async () => {
  const page = await open("#/search");
  const asked = page.waitForRequest((request) => request.url().endsWith("/v1/recall"));
  await page.evaluate(() => { location.hash = "#/search?q=Cleo&as_of=2025-06-01"; });
  assert.equal((await asked).postDataJSON().as_of, "2025-06-01T23:59:59.999999Z");
  await page.locator(".hits").getByText("Globex").waitFor();
});

test("another agent is chosen, and its memories are shown, after a reload too", async () => {
  const page = await open("#/search");
  await page.getByLabel("Agent").fill("gardener");
  await page.keyboard.press("Enter");
  await page.getByText("The roses want water").waitFor();
  await page.reload();
  await page.getByText("The roses want water").waitFor();
  assert.equal(await page.getByLabel("Agent").inputValue(), "gardener");
  assert.equal(await page.locator(".list > li").count(), 1);
});
