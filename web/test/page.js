/** The page in headless Chromium: opened on a server, watched for errors and for requests to anywhere else. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, afterEach } from "node:test";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf-8");

/** What the server holds, from the program that filled it: url, keys by role, ids and texts. */
export const world = JSON.parse(readFileSync(process.env.PAGE_WORLD, "utf-8"));

// The headless shell has no windows of its own to draw: half the CPU of the whole browser.
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
after(() => browser.close());
const opened = [];
afterEach(async ({ passed }) => {
  for (const { context, page, problems } of opened.splice(0)) {
    if (!passed) console.log(await describe(page));
    await context.close();
    assert.deepEqual(problems, []);
  }
});

/** Where a page stood when its test failed: the address, the latest requests and the beginning of what it showed. */
async function describe(page) {
  const text = await page.evaluate(() => (document.querySelector("main") ?? document.body).innerText).catch(({ message }) => message);
  return `stood at ${page.url()}, asked ${JSON.stringify(page.asked.slice(-5))}, showed:\n${text.slice(0, 600)}`;
}

/** Open the page at a view, signed in with the key of a role; none asks for one. */
export async function open(hash, { role = "admin", expects = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(20_000);
  const problems = [];
  const note = (problem) => expects.some((expected) => expected.test(problem)) || problems.push(problem);
  const page = await context.newPage();
  opened.push({ context, page, problems });
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && note(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => note(`uncaught: ${error.message}`));
  page.asked = []; // the requests of the view, with the number of items that each may answer
  page.on("request", (request) => request.url().includes("/v1/") && page.asked.push({ path: new URL(request.url()).pathname, limit: Number(new URL(request.url()).searchParams.get("limit")) }));
  context.on("request", (request) => request.url().startsWith(world.url) || note(`asked elsewhere: ${request.url()}`));
  if (role !== null) {
    await page.addInitScript((key) => { if (location.protocol === "http:") sessionStorage.setItem("engrain.key", key); }, world.keys[role]);
  }
  await page.goto(`${world.url}/${hash}`);
  return page;
}

/** Type a query as somebody does, and wait until what is shown answers the whole of it, and no part of it. */
export async function typeQuery(page, field, query) {
  const answered = page.waitForResponse((response) => response.request().method() === "POST" && response.request().postDataJSON()?.query === query);
  await field.pressSequentially(query);
  await answered;
  await page.locator('.results[aria-busy="false"]').waitFor();
}

/** Ask the server itself, to compare what the page shows. */
export async function ask(method, path, body, role = "admin", who = {}) {
  const headers = { Authorization: `Bearer ${world.keys[role]}`, "Content-Type": "application/json", ...who };
  const answer = await fetch(world.url + path, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** The findings of axe that matter, as sentences. */
export async function seriousFindings(page) {
  const findings = await page.context().newCDPSession(page).then(async (session) => {
    await session.send("Page.setBypassCSP", { enabled: true }); // axe itself is a script of another place
    await page.evaluate(AXE);
    return page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  });
  const serious = findings.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`));
}

/** Press a key until something has the focus, as somebody without a mouse does. */
export async function tabTo(page, locator) {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no way to ${locator} by Tab`);
}
