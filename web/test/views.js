/** Views of the page with sample data, as the tests of looks and the pictures of the documentation open them. */

import { open, world } from "./page.js";

/** By name: the address, what there is to see once it is ready, and what is done before it is looked at. */
export const VIEWS = {
  search: { hash: "#/search?q=Where does Ana live&beside=keyword", ready: ".hits > li" },
  newest: { hash: "#/search", ready: ".list > li" },
  context: { hash: "#/context?q=Where does Ana live", ready: ".lines > li" },
  overview: { hash: "#/overview", ready: ".plot canvas" },
  admin: { hash: "#/admin", ready: "[aria-labelledby=keys] tbody tr" },
  timeline: { hash: "#/timeline?subject=Cleo", ready: ".version" },
  entities: { hash: "#/entities", ready: ".graph canvas" },
  entity: { hash: "#/entities/Frank", ready: ".graph canvas" },
  learning: { hash: "#/learning", ready: ".run .quote", prepare: openRuns },
  memory: { hash: `#/memory/${world.ids.lisbon}`, ready: "[aria-labelledby=events] tbody tr" },
};

/** Open a view by its name, and wait until it shows what it is for. */
export async function openView(name, options = {}) {
  const { hash, ready, prepare } = VIEWS[name];
  const page = await open(hash, options);
  await prepare?.(page);
  await page.locator(ready).first().waitFor();
  return page;
}

async function openRuns(page) {
  await page.locator(".run").first().waitFor();
  for (const run of await page.locator(".run > .line > button.link").all()) await run.click();
}
