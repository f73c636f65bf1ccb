// Calls tools by the official SDK's client, and prints what the program behind it is told of each call.
// In, as JSON: {server: {url, headers} or {command, args, env}, calls: [{name, arguments}]}.
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { server, calls } = JSON.parse(await text(process.stdin));
const transport = server.url
  ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } })
  : new StdioClientTransport({ ...server, stderr: "ignore" });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools(); // from here on the client checks answers by their output schemas
const outcomes = [];
for (const call of calls) {
  try {
    const { isError = false, content } = await client.callTool(call);
    outcomes.push({ isError, text: content[0]?.text });
  } catch (error) {
    outcomes.push({ thrown: error.message, code: error.code });
  }
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), outcomes }));
