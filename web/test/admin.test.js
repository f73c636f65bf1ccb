/** Administration: users, keys and jobs, for admins of all agents alone. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, open, world } from "./page.js";

test("a user is exported, and erased after what goes was said and the name was typed", async () => {
  const page = await open("#/admin");
  const row = page.getByRole("row", { name: /tess/ });
  await row.waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), row.getByRole("button", { name: "Export tess" }).click()]);
  assert.equal(download.suggestedFilename(), "tess.jsonl");
  await row.getByRole("button", { name: "Erase tess" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/\d+ rows? of episodes go for good/).waitFor();
  const erase = dialog.getByRole("button", { name: "Erase" });
  assert.ok(await erase.isDisabled());
  await dialog.getByLabel("Type the name").fill("tess");
  await erase.click();
  await page.getByText(/Erased tess: [\d,]+ rows?\./).waitFor();
  await row.waitFor({ state: "detached" });
  assert.deepEqual((await ask("GET", "/v1/users")).items.map(({ user_id: user }) => user), ["uma"]);
});

test("a key is made with its secret shown once, rotated and revoked", async () => {
  const page = await open("#/admin");
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Purpose").fill("page test");
  await page.getByRole("dialog").getByRole("combobox", { name: "Role" }).selectOption("reader");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const first = await page.getByLabel("Secret").inputValue();
  const asks = (secret) => fetch(`${world.url}/v1/stats`, { headers: { Authorization: `Bearer ${secret}` } }).then(({ status }) => status);
  assert.equal(await asks(first), 200);
  await page.getByRole("button", { name: "Done" }).click();
  assert.ok(!(await page.content()).includes(first));
  await page.getByRole("button", { name: "Rotate page test" }).click();
  await page.getByLabel("Days").fill("0");
  await page.getByRole("button", { name: "Rotate", exact: true }).click();
  const second = await page.getByLabel("Secret").inputValue();
  assert.notEqual(second, first);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Revoke page test" }).first().click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByRole("row", { name: /page test.*revoked/ }).first().waitFor();
  assert.equal(await asks(second), 401);
});

test("a job is run, and listed with what it did", async () => {
  const page = await open("#/admin");
  await page.getByRole("combobox", { name: "Job" }).selectOption("decay");
  await page.getByRole("button", { name: "Run decay now" }).click();
  await page.locator("[aria-labelledby=jobs] li", { hasText: "done" }).first().waitFor();
  const { items: [job] } = await ask("GET", "/v1/jobs?name=decay&limit=1");
  assert.equal(job.status, "done");
});

test("whoever is no admin of all agents is not offered it", async () => {
  for (const role of ["reader", "writer"]) {
    const page = await open("#/admin", { role });
    await page.getByText("There is no view of this name").waitFor();
    assert.equal(await page.getByRole("link", { name: "Administration" }).count(), 0);
  }
});
