/** Signing in, roles, and pages of other origins. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { open, world } from "./page.js";

const REFUSED = [/401/];

test("a wrong key is refused, a right one opens, and it stays in the tab alone", async () => {
  const page = await open("", { role: null, expects: REFUSED });
  const key = page.getByLabel("Access key or token");
  await key.fill("ek_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  await key.fill(world.keys.reader);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Newest memories" }).waitFor();
  assert.ok(!page.url().includes(world.keys.reader));
  assert.equal(await page.evaluate(() => localStorage.length + document.cookie.length), 0);
  const other = await page.context().newPage();
  await other.goto(world.url);
  await other.getByLabel("Access key or token").waitFor();
  await page.getByLabel("Agent").fill("gardener");
  await Promise.all([page.waitForResponse(/caller/), page.keyboard.press("Enter")]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Access key or token").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

for (const [role, acts] of Object.entries({ reader: [], writer: ["Correct", "Confirm", "Forget"], admin: ["Correct", "Confirm", "Forget", "Erase"] })) {
  test(`a ${role} is offered what the role may do`, async () => {
    const page = await open(`#/memory/${world.ids.lisbon}`, { role });
    await page.getByRole("heading", { name: "Lisbon", level: 1 }).waitFor();
    await page.getByRole("heading", { name: "Where it comes from" }).waitFor();
    const offered = await page.locator(".actions button").allTextContents();
    assert.deepEqual(offered, acts);
    assert.equal(await page.getByLabel("Agent").getAttribute("readonly") === null, role !== "writer");
  });
}

test("a page of another origin can neither ask, nor frame, nor link in with effect", async () => {
  const stranger = createServer((request, answer) => answer.setHeader("Content-Type", "text/html").end("<title>other</title>"));
  await new Promise((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const home = `http://127.0.0.1:${stranger.address().port}`;
  const page = await open("", { expects: [/./] }); // that it is refused is what the console says
  try {
    await page.goto(home);
    const asked = (path, options) => page.evaluate(([url, options]) => fetch(url, options).then((answer) => answer.type, () => "refused"), [world.url + path, options]);
    const headers = { Authorization: `Bearer ${world.keys.admin}`, "Content-Type": "application/json" };
    assert.equal(await asked("/v1/stats", { headers }), "refused");
    assert.equal(await asked("/v1/facts", { headers, method: "POST", body: JSON.stringify({ content: "planted" }) }), "refused");
    assert.equal(await asked("/", {}), "refused");
    const framed = await page.evaluate((url) => new Promise((resolve) => {
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.onload = () => resolve(frame.contentDocument === null ? "closed" : frame.contentDocument.title);
      frame.src = url;
    }), world.url);
    assert.notEqual(framed, "engrain");
    assert.equal(page.frames().some((frame) => frame.url() === `${world.url}/` && frame.childFrames), false);
  } finally {
    stranger.closeAllConnections();
    stranger.close();
  }
});
