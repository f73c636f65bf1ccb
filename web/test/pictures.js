/** Takes the pictures of the documentation: views of the page in light colours, as WebP into PAGE_PICTURES. */

import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { open, world } from "./page.js";

const SIZE = { width: 1120, height: 700 };
const QUALITY = 72; // at most 60 kB a picture
const PICTURES = {
  search: { hash: "#/search?q=What is Marek allergic to?", ready: ".hits > li" },
  context: { hash: "#/context?q=Should we book Noor a flight to see Marek's canoe?&budget=500", ready: ".lines > li" },
  memory: { hash: `#/memory/${world.ids.home}`, ready: "[aria-labelledby=events] tbody tr" },
  timeline: { hash: "#/timeline?subject=Noor", ready: ".version" },
};

for (const [name, { hash, ready }] of Object.entries(PICTURES)) {
  test(`a picture of ${name}`, async () => {
    const page = await open(hash, { viewport: SIZE, colorScheme: "light" });
    await page.locator(ready).first().waitFor();
    await page.getByText("Loading …").first().waitFor({ state: "detached" });
    await page.evaluate(() => document.activeElement?.blur());
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
    writeFileSync(`${process.env.PAGE_PICTURES}/${name}.webp`, Buffer.from(data, "base64"));
  });
}
