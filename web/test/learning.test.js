/** Learning: what runs learned and from which words, what they rejected, undo, what waits, and what the audit finds. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, open } from "./page.js";

async function openRun(page, text) {
  const runs = page.locator(".run");
  await runs.first().waitFor();
  for (const run of await runs.all()) {
    await run.getByRole("button").first().click();
    await run.locator("[aria-label=Learned] :is(.list > li, h3 + p.quiet:not([role]))").first().waitFor();
    if ((await run.textContent()).includes(text)) return run;
    await run.getByRole("button").first().click();
  }
  assert.fail(`no run says ${text}`);
}

test("a run shows what it learned with the words it was learned from, and what it rejected and why", async () => {
  const page = await open("#/learning");
  const run = await openRun(page, "rye bread");
  const learned = run.getByRole("region", { name: "Learned" });
  await learned.locator("mark", { hasText: "Fridays" }).first().waitFor();
  await learned.getByText("fact created").first().waitFor();
  const [{ report }] = (await ask("GET", "/v1/runs")).items.filter(({ report }) => report.rejected?.length > 0);
  const rejected = await run.getByRole("region", { name: "Rejected" }).locator(".said").allTextContents();
  assert.deepEqual(rejected, report.rejected.map(({ said }) => said));
  assert.ok(rejected.length > 0);
  assert.equal(await page.evaluate(() => window.attacked), undefined);
  await learned.getByRole("link", { name: "rye bread" }).first().click();
  await page.getByRole("heading", { name: "rye bread on Fridays", level: 1 }).waitFor();
});

test("undoing a run says what will happen, takes back what it learned, and its episodes wait again", async () => {
  const page = await open("#/learning");
  const run = await openRun(page, "Wanda");
  await run.getByRole("button", { name: "Undo" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("leaves every search").waitFor();
  await dialog.getByRole("button", { name: "Undo" }).click();
  await page.getByText(/Undone: \d changes taken back\./).waitFor();
  await run.getByText("undone", { exact: true }).waitFor();
  await run.locator(".memory.gone").waitFor();
  assert.deepEqual((await ask("GET", "/v1/facts?subject=Ben&predicate=has%20a%20boat%20called")).items, []);
  await page.locator("[aria-labelledby=waiting]").getByText("boat", { exact: true }).waitFor();
});

test("what waits is counted, and the audit begins when it is asked for", async () => {
  const page = await open("#/learning");
  const waiting = page.locator("[aria-labelledby=waiting]");
  await waiting.locator("li").first().waitFor();
  const { waiting_sessions: sessions } = await ask("GET", "/v1/dashboard?days=0&limit=50");
  assert.ok((await waiting.locator("li").count()) >= sessions.length - 2, "other tests store a few");
  const audits = [];
  page.on("request", (request) => request.url().includes("/v1/audit") && audits.push(request.url()));
  assert.equal(audits.length, 0);
  await page.getByRole("button", { name: "Look for problems" }).click();
  await page.locator(".finding").first().waitFor();
  const { counts } = await ask("GET", "/v1/audit?kinds=secret&limit=10&skip=0");
  await page.getByLabel("Kind").selectOption("secret");
  await page.waitForFunction((count) => document.querySelector("[aria-labelledby=findings] .summary")?.textContent.startsWith(String(count)), counts.secret);
  const before = await page.locator(".finding").count();
  assert.ok(before <= 10);
  await page.locator("[aria-labelledby=findings]").getByRole("button", { name: "Show more" }).click();
  await page.waitForFunction((count) => document.querySelectorAll(".finding").length > count, before);
  assert.ok(audits.every((url) => url.includes("limit=10")));
});

test("a reader sees runs and is offered neither undo nor the audit", async () => {
  const page = await open("#/learning", { role: "reader" });
  await page.locator(".run").first().waitFor();
  await page.getByRole("heading", { name: "Waits to be learned from" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Look for problems" }).count(), 0);
});
