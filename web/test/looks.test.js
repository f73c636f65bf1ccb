/** Every view: no serious finding of axe, nothing beside a phone's width, in light and dark. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, seriousFindings, world } from "./page.js";

const PHONE = { width: 360, height: 740 };
const VIEWS = {
  search: ["#/search?q=Where does Ana live&beside=keyword", ".hits > li"],
  newest: ["#/search", ".list > li"],
  context: ["#/context?q=Where does Ana live", ".lines > li"],
  overview: ["#/overview", ".days > div"],
  memory: [`#/memory/${world.ids.lisbon}`, "[aria-labelledby=events] tbody tr"],
};

for (const [name, [hash, ready]] of Object.entries(VIEWS)) {
  test(`${name} reads well in light and dark, and on a phone`, async () => {
    for (const options of [{ colorScheme: "light" }, { colorScheme: "dark", viewport: PHONE }]) {
      const page = await open(hash, options);
      await page.locator(ready).first().waitFor();
      if (process.env.PAGE_PICTURES) {
        await page.screenshot({ path: `${process.env.PAGE_PICTURES}/${name}-${options.colorScheme}.png` });
      }
      assert.deepEqual(await seriousFindings(page), []);
      const beside = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(beside <= 0, `${name} is ${beside} px wider than the window`);
    }
  });
}

test("signing in reads well, too", async () => {
  const page = await open("", { role: null, expects: [/401/], viewport: PHONE });
  await page.getByLabel("Access key or token").waitFor();
  assert.deepEqual(await seriousFindings(page), []);
});
