/** All tests of the page in one process, so that they share one browser. */

import { readdirSync } from "node:fs";

const names = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".test.js"));
await Promise.all(names.sort().map((name) => import(`./${name}`))); // one after the other, the first would end alone
