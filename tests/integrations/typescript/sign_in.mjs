// Connects without a key, as a client that could sign in by OAuth, and prints what the SDK does then.
// In, as JSON: {url}.
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url } = JSON.parse(await text(process.stdin));
const pages = [];
const authProvider = {
  redirectUrl: "http://127.0.0.1:1/callback",
  clientMetadata: { redirect_uris: ["http://127.0.0.1:1/callback"], client_name: "test" },
  clientInformation: () => undefined,
  saveClientInformation: () => {},
  tokens: () => undefined,
  saveTokens: () => {},
  saveCodeVerifier: () => {},
  codeVerifier: () => "verifier",
  redirectToAuthorization: (page) => pages.push(String(page)),
};
let error = null;
try {
  await new Client({ name: "test", version: "1" }).connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
} catch (caught) {
  error = caught.message;
}
console.log(JSON.stringify({ pages, error }));
