/** Timeline: facts by the time they were true, what superseded what, and what was believed on a day. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, open, tabTo } from "./page.js";

const contents = (page) => page.locator(".version a.said").allTextContents();

test("versions stand in the order of their time, and each says what superseded it", async () => {
  const page = await open("#/timeline?subject=Cleo");
  await page.locator(".version").nth(2).waitFor();
  assert.deepEqual(await contents(page), ["Acme", "Globex", "Initech"]);
  assert.match(await page.locator(".version").first().textContent(), /from 2023-04-01 to 2025-05-15.*superseded by Globex/);
  const bars = await page.locator(".track span").evaluateAll((spans) => spans.map((span) => span.getBoundingClientRect()).map(({ left, right }) => [left, right]));
  assert.ok(bars.every(([left], place) => place === 0 || Math.abs(left - bars[place - 1][1]) < 2), "one begins where the other ends");
  await page.locator(".version a", { hasText: "Initech" }).first().click();
  await page.getByRole("heading", { name: "Initech", level: 1 }).waitFor();
});

test("the slider goes back, by keyboard alone, to what was believed", async () => {
  const page = await open("#/timeline?subject=Cleo");
  await page.locator(".version").nth(2).waitFor();
  const slider = page.getByRole("slider", { name: "As believed on" });
  await tabTo(page, slider);
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelectorAll(".version").length === 1);
  assert.deepEqual(await contents(page), ["Acme"]);
  assert.equal(await slider.getAttribute("aria-valuetext"), "2025-02-01");
  await page.getByLabel("Day", { exact: true }).fill("2025-07-01");
  await page.waitForFunction(() => document.querySelector(".summary strong")?.textContent === "2025-07-01" && document.querySelector("[aria-busy]").getAttribute("aria-busy") === "false");
  const believed = await ask("GET", "/v1/facts?subject=Cleo&as_of=2025-07-01T23:59:59Z");
  assert.deepEqual((await contents(page)).toSorted(), believed.items.map(({ content }) => content).toSorted());
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".summary strong")?.textContent === "2025-07-01");
  await page.getByRole("button", { name: "Now" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".version").length === 3);
});

test("an address that is opened changes the timeline that is open", async () => {
  const page = await open("#/timeline?subject=Ana");
  await page.locator(".version").first().waitFor();
  await page.evaluate(() => { location.hash = "#/timeline?subject=Cleo"; });
  await page.waitForFunction(() => document.querySelectorAll(".version").length === 3);
  assert.deepEqual(await contents(page), ["Acme", "Globex", "Initech"]);
});

test("facts come page by page", async () => {
  const page = await open("#/timeline");
  const limits = [];
  page.on("request", (request) => request.url().includes("/v1/facts") && limits.push(new URL(request.url()).searchParams.get("limit")));
  await page.reload();
  await page.locator(".version").first().waitFor();
  assert.ok(limits.length > 0 && limits.every((limit) => limit === "50"), limits.join());
});
