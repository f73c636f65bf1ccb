// Writes to ENGRAIN_URL until stdin ends, and prints each content once it is stored.
import { createInterface } from "node:readline";

import { Engrain } from "engrain";

const memory = new Engrain({ url: process.env.ENGRAIN_URL, agent: "writer", timeoutMs: 300_000 });
let isOver = false;
createInterface({ input: process.stdin }).on("close", () => { isOver = true; });

async function write(number) {
  const writer = memory.agent("writer", { session: `session ${number}` });
  for (let turn = 0; !isOver; turn += 1) {
    const content = `turn ${turn} of ${number}`;
    if (turn % 3 === 2) await writer.remember({ content, subject: `subject ${number}`, predicate: `predicate ${turn}` });
    else await writer.observe({ content });
    process.stdout.write(`${content}\n`);
  }
}

await Promise.all([0, 1, 2, 3].map(write));
