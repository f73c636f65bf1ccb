/** Every view: as much as a page of it is asked for, no serious finding of axe, nothing beside a phone's width, in light and dark. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, seriousFindings } from "./page.js";
import { openView, VIEWS } from "./views.js";

/** A view asks for so much at first, however many memories there are: lists come page by page. */
const MOST_REQUESTS = 50;
const MOST_ITEMS = 200;
const WHOLE = /\/(export|backup|graph\/read|audit)$/;
const PHONE = { width: 360, height: 740 };

for (const name of Object.keys(VIEWS)) {
  test(`${name} reads well in light and dark, and on a phone`, async () => {
    for (const options of [{ colorScheme: "light" }, { colorScheme: "dark", viewport: PHONE }]) {
      const page = await openView(name, options);
      if (process.env.PAGE_PICTURES) {
        await page.screenshot({ path: `${process.env.PAGE_PICTURES}/${name}-${options.colorScheme}.png` });
      }
      assert.ok(page.asked.length <= MOST_REQUESTS, `${name} asks ${page.asked.length} times`);
      assert.deepEqual(page.asked.filter(({ path, limit }) => limit > MOST_ITEMS || WHOLE.test(path)), []);
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
