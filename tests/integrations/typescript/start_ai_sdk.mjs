// Starts a server by the client of the Vercel AI SDK as often as asked, and prints what one tool answers each time.
// In, as JSON: {server: {command, args, env}, times, tool, arguments}.
import { text } from "node:stream/consumers";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";

const { server, times, tool, arguments: given } = JSON.parse(await text(process.stdin));
const answers = [];
for (let time = 0; time < times; time += 1) {
  const client = await createMCPClient({ transport: new StdioTransport({ ...server, stderr: "ignore" }) });
  const tools = await client.tools();
  answers.push(await tools[tool].execute(given, { messages: [], toolCallId: "1" }));
  await client.close();
}
console.log(JSON.stringify(answers));
