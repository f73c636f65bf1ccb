/** Context and overview: what they show is what the server answers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, open, typeQuery, world } from "./page.js";

test("the block is the one that a model gets, and each line opens its memory", async () => {
  const page = await open("#/context");
  await typeQuery(page, page.getByLabel("Prompt"), "Where does Ana live?");
  const block = await ask("POST", "/v1/context", { query: "Where does Ana live?", budget_tokens: 1000 });
  assert.equal(await page.getByLabel("The block").evaluate((shown) => shown.textContent), block.text);
  const ids = await page.locator(".lines a").evaluateAll((lines) => lines.map((line) => line.hash.split("/").at(-1)));
  assert.deepEqual(ids, block.sections.flatMap((section) => section.ids));
  await page.locator(".lines a", { hasText: "Ana lives in" }).click();
  await page.getByRole("heading", { name: "Lisbon", level: 1 }).waitFor();
});

test("a smaller budget leaves memories out, and the address brings both back", async () => {
  const page = await open("#/context?q=Tell me of the gardens");
  await page.getByLabel("Budget in tokens").selectOption("100");
  await page.waitForFunction(() => / of 100 .*had no room/.test(document.querySelector(".summary")?.textContent ?? ""));
  const tokens = Number((await page.locator(".summary strong").first().textContent()).match(/[\d,]+/)[0].replace(",", ""));
  assert.ok(tokens <= 100);
  await page.reload();
  await page.waitForFunction(() => / of 100 /.test(document.querySelector(".summary")?.textContent ?? ""));
  assert.equal(await page.getByLabel("Budget in tokens").inputValue(), "100");
});

test("the overview counts what the server counts", async () => {
  const page = await open("#/overview");
  await page.locator(".counts strong").first().waitFor();
  const shown = await page.locator(".counts strong").allTextContents();
  const { stats, days } = await ask("GET", "/v1/dashboard?days=30&limit=5");
  assert.ok(Math.abs(Number(shown[0].replace(",", "")) - stats.episodes.total) <= 5, "other tests store a few");
  assert.equal(await page.locator(".days > div").count(), days.length);
  await page.locator(".plot canvas").waitFor();
  const added = days.reduce((sum, day) => sum + day.facts, 0);
  assert.match(await page.locator(".plot").getAttribute("aria-label"), new RegExp(`: [\\d,]+ episodes, (${added}|${added + 1}|${added + 2}|${added - 1}) facts`));
  const confidence = await page.locator(".histogram .number").allTextContents();
  const { items: facts } = await ask("GET", "/v1/facts?limit=200");
  assert.ok(Math.abs(confidence.reduce((sum, count) => sum + Number(count), 0) - facts.length) <= 3);
  await page.getByRole("combobox", { name: "Days" }).selectOption("90");
  await page.waitForFunction(() => document.querySelectorAll(".days > div").length === 90);
  assert.ok(world.count > 100);
});
