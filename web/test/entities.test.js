/** Entities: the graph and the lists that say the same, profiles, merge with a preview, and unmerge. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, open, tabTo, world } from "./page.js";

test("the graph is drawn, and its list says the same and leads on by keyboard", async () => {
  const page = await open("#/entities");
  await page.locator(".graph canvas").first().waitFor();
  const label = await page.locator(".graph").getAttribute("aria-label");
  const summary = page.getByText("As a list");
  await tabTo(page, summary);
  await page.keyboard.press("Enter");
  const edges = page.locator("figure li");
  assert.match(label, new RegExp(`with ${await edges.count()} relations?;`));
  await page.keyboard.press("Tab");
  const name = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name, level: 1 }).waitFor();
});

test("a name is found as one types, and leads to its profile", async () => {
  const page = await open("#/entities");
  await page.getByLabel("Name").pressSequentially("frank");
  await page.getByRole("list", { name: "Matches" }).getByText("Frank").click();
  await page.getByRole("heading", { name: "Frank", level: 1 }).waitFor();
  const profile = await ask("GET", "/v1/entities/profile?id_or_name=Frank");
  assert.equal(await page.locator("[aria-labelledby=mentions] .memory").count(), profile.episodes.length);
  assert.ok(profile.related.length > 0);
});

test("a merge shows what it will do, does that, and comes apart again", async () => {
  const [source, target] = await Promise.all(["Greta Holm", "Greta Holmgren"].map((name) => ask("POST", "/v1/entities", { name, entity_type: "person" })));
  for (const [entity, city] of [[source, "Oslo"], [target, "Malmö"]]) {
    await ask("POST", "/v1/facts", { content: city, subject: entity.canonical_name, predicate: "lives in", entity_id: entity.id });
  }
  const page = await open(`#/entities/${source.id}`);
  await page.getByRole("button", { name: "Merge into another" }).click();
  const dialog = page.getByRole("dialog");
  const merge = dialog.getByRole("button", { name: "Merge" });
  assert.ok(await merge.isDisabled());
  await dialog.getByLabel("Who or what it is").fill("Greta Holmgren");
  await dialog.getByRole("radio", { name: "Greta Holmgren" }).check();
  await dialog.getByText("gets 1 fact").waitFor();
  assert.match(await dialog.locator(".conflict").textContent(), /Oslo is superseded by Malmö/);
  await merge.click();
  await page.getByRole("heading", { name: "Greta Holmgren", level: 1 }).waitFor();
  await page.locator(".memory.gone", { hasText: "Oslo" }).waitFor();
  assert.deepEqual((await ask("GET", `/v1/entities/${target.id}`)).aliases, ["Greta Holm"]);
  await page.getByRole("button", { name: "Unmerge" }).click();
  await page.getByText("is an entity of its own again").waitFor();
  await page.getByRole("heading", { name: "Merged into it" }).waitFor({ state: "detached" });
  const facts = await ask("GET", "/v1/facts?predicate=lives%20in&subject=Greta%20Holm");
  assert.deepEqual(facts.items.map(({ content }) => content), ["Oslo"]);
});

test("a merge is undone from its notice, and a reader is offered none", async () => {
  const [source, target] = await Promise.all(["Ivo Brandt", "Ivo Brandtner"].map((name) => ask("POST", "/v1/entities", { name })));
  const page = await open(`#/entities/${source.id}`);
  await page.getByRole("button", { name: "Merge into another" }).click();
  await page.getByLabel("Who or what it is").fill("Ivo Brandtner");
  await page.getByRole("radio", { name: "Ivo Brandtner" }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("heading", { name: "Ivo Brandt", level: 1, exact: true }).waitFor();
  assert.deepEqual((await ask("GET", `/v1/entities/${target.id}`)).aliases, []);
  const reading = await open(`#/entities/${source.id}`, { role: "reader" });
  await reading.getByRole("heading", { name: "Facts" }).waitFor();
  assert.equal(await reading.getByRole("button", { name: "Merge into another" }).count(), 0);
});

test("a name that wants to be more is text", async () => {
  const page = await open("#/entities");
  await page.getByRole("link", { name: world.markup }).first().waitFor();
  await page.evaluate((name) => { location.hash = `#/entities/${encodeURIComponent(name)}`; }, world.markup);
  await page.getByRole("heading", { name: world.markup, level: 1 }).waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.equal(await page.evaluate(() => window.attacked), undefined);
});
