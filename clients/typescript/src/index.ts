/** Client of engrain, a long-term memory for AI agents: every verb of its HTTP API as a method. */

import { OPERATIONS } from "./api.js";
import type { AdmittedCaller, Verbs } from "./api.js";
import { Connection, freshKey, headerValue, Paged, readJson } from "./connection.js";
import type { CallOptions, Download, Operation, Page, Request } from "./connection.js";
import { InvalidInput, NotFound } from "./errors.js";

export type * from "./api.js";
export { Paged } from "./connection.js";
export type { CallOptions, Download, Page } from "./connection.js";
export * from "./errors.js";

/** For whom the calls of a client are; what is left out, or null, the key or the server says. */
export interface Identity {
  /** The agent: one named assistant. */
  agent?: string | null;
  /** The end user that the agent acts for; null is none. */
  user?: string | null;
  /** The conversation that is going on. */
  session?: string | null;
  /** The id that events and logs have of each request. */
  requestId?: string | null;
}

/** Options of a client. */
export interface EngrainOptions extends Identity {
  /** Address of the server: https://host, or http:// on this machine. */
  url: string;
  /** The access key. */
  key?: string;
  /** The milliseconds of a call with all its retries: 60,000 if left out. */
  timeoutMs?: number;
}

type Arguments = Record<string, unknown>;

const IDENTITY = new Set(["agent", "user", "session", "requestId"]);

/** A memory on a server, as one agent sees it. */
export interface Engrain extends Verbs {}

export class Engrain {
  readonly #connection: Connection;
  readonly #identity: Identity;

  constructor(options: EngrainOptions, connection?: Connection) {
    const { url, key, timeoutMs = 60_000, ...identity } = options;
    this.#connection = connection ?? new Connection(url, key, timeoutMs);
    this.#identity = identity;
    checkIdentity(identity);
    identityHeaders(identity); // or the first call would be the one that is refused
    const groups: Record<string, Record<string, unknown>> = {};
    for (const operation of OPERATIONS) {
      const owner = operation.group === null ? (this as unknown as Arguments) : (groups[operation.group] ??= {});
      owner[operation.name] = (args: Arguments = {}, options: CallOptions = {}) => this.#call(operation, args, options);
    }
    Object.assign(this, groups);
  }

  /**
   * The same memory as another agent sees it, or for another user or session; cheap, make one for each request.
   *
   * What `identity` leaves out stays as it was, and null takes it away; a name of undefined is the agent that it was.
   */
  agent(name: string | null | undefined, identity: Omit<Identity, "agent"> = {}): Engrain {
    checkIdentity(identity);
    const agent = name === undefined ? {} : { agent: name };
    return new Engrain({ url: "", ...this.#identity, ...agent, ...identity }, this.#connection);
  }

  /** Say as whom the server takes the calls of this client. */
  caller(options: CallOptions = {}): Promise<AdmittedCaller> {
    const operation = { verb: "caller", method: "GET", changes: false, isRepeatable: true, isSlow: false };
    const headers = identityHeaders(this.#identity);
    return this.#connection.send(
      { operation, path: "/v1/caller", headers, body: undefined, key: undefined },
      options,
      readJson,
    );
  }

  #call(operation: Operation, args: Arguments, options: CallOptions): unknown {
    if (operation.answer === "pages") {
      return new Paged<unknown>((after) =>
        this.#send(operation, after === undefined ? args : { ...args, after }, options, readJson) as Promise<Page<unknown>>,
      );
    }
    return this.#send(operation, args, options, (response) => readAnswer(operation, response));
  }

  async #send(
    operation: Operation,
    args: Arguments,
    options: CallOptions,
    read: (response: Response) => Promise<unknown>,
  ): Promise<unknown> {
    const request = buildRequest(operation, identityHeaders(this.#identity), args);
    try {
      return await this.#connection.send(request, options, read);
    } catch (error) {
      if (operation.isOptional && error instanceof NotFound) {
        return null;
      }
      throw error;
    }
  }
}

/** Refuse what is no name: a user that is undefined would be the memory of somebody else. */
function checkIdentity(identity: object): void {
  for (const [name, value] of Object.entries(identity)) {
    if (!IDENTITY.has(name)) {
      throw new InvalidInput("invalid_input", `${name} is nothing that a client takes; give agent, user, session or requestId`);
    }
    if (value !== null && typeof value !== "string") {
      const message = `${name} is no text (${typeof value}); give a name, null for none, or leave it out`;
      throw new InvalidInput("invalid_input", message);
    }
  }
}

function identityHeaders(identity: Identity): Record<string, string> {
  const named = {
    "Engrain-Agent": identity.agent,
    "Engrain-User": identity.user,
    "Engrain-Session": identity.session,
    "X-Request-ID": identity.requestId,
  };
  const given = Object.entries(named).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(given.map(([name, value]) => [name, headerValue(name, value)]));
}

function buildRequest(operation: Operation, identity: Record<string, string>, args: Arguments): Request {
  const rest = { ...args };
  const headers = { ...identity };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => pathPart(name, take(rest, name)));
  const query = new URLSearchParams();
  for (const name of operation.query) {
    const value = take(rest, name);
    for (const item of Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]) {
      query.append(name, item instanceof Date ? timeText(name, item) : String(item));
    }
  }
  const key = operation.takesKey ? (take(rest, "idempotency_key") ?? freshKey()) : undefined;
  if (key !== undefined) {
    headers["Idempotency-Key"] = headerValue("idempotency_key", String(key));
  }
  const body = requestBody(operation, headers, rest);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined && !operation.hasBody) {
    throw new InvalidInput("invalid_input", `${operation.verb} has no argument ${unknown}`);
  }
  const search = query.size === 0 ? "" : `?${query}`;
  return { operation, path: path + search, headers, body, key: key === undefined ? undefined : String(key) };
}

function requestBody(operation: Operation, headers: Record<string, string>, rest: Arguments): string | Blob | undefined {
  if (operation.takes !== null) {
    headers["Content-Type"] = operation.takes;
    const file = take(rest, "file");
    if (!(file instanceof Blob)) {
      throw new InvalidInput("invalid_input", `${operation.verb} needs a file: a Blob, such as fs.openAsBlob(path)`);
    }
    return file;
  }
  if (operation.hasBody) {
    headers["Content-Type"] = "application/json";
    return jsonText(rest);
  }
  return undefined;
}

/** The JSON of a body; a number or time that JSON has not is refused, or it would silently be null. */
function jsonText(fields: Arguments): string {
  let field = "";
  return JSON.stringify(fields, function check(this: unknown, name: string, value: unknown): unknown {
    field = this === fields ? name : field;
    const given = name === "" ? value : (this as Arguments)[name];
    if (given instanceof Date) {
      return timeText(field, given);
    }
    if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) {
      throw new InvalidInput("invalid_input", `${field} has the number ${value}, which JSON cannot carry`);
    }
    return value;
  });
}

function timeText(name: string, time: Date): string {
  if (Number.isNaN(time.getTime())) {
    throw new InvalidInput("invalid_input", `${name} is an invalid Date; give a time`);
  }
  return time.toISOString();
}

async function readAnswer(operation: Operation, response: Response): Promise<unknown> {
  if (operation.answer === "file") {
    const report = JSON.parse(response.headers.get("engrain-report") ?? "{}");
    return { report, body: response.body } as Download;
  }
  const document = await readJson(response);
  if (operation.answer === "none" || document === null) {
    return undefined;
  }
  if (typeof operation.answer === "object") {
    return document[operation.answer.field];
  }
  return operation.answer === "items" ? document.items : document;
}

function take(args: Arguments, name: string): unknown {
  const value = args[name];
  delete args[name];
  return value;
}

/** A part of a path; dots are escaped, or `..` would be the folder above. */
function pathPart(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw new InvalidInput("invalid_input", `${name} is empty or no text (${String(value)})`);
  }
  if (/^\.+$/.test(value)) {
    throw new InvalidInput("invalid_input", `${name} ${value} is no id`);
  }
  try {
    return encodeURIComponent(value);
  } catch {
    throw new InvalidInput("invalid_input", `${name} ${JSON.stringify(value)} has half of a character, so it is no id`);
  }
}
