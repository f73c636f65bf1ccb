/** Connection to a server: addresses, headers, retries, and the client's errors for the server's problems. */

import { DatabaseUnreachable, EngrainError, ERRORS, InvalidInput, OutcomeUnknown, RateLimited } from "./errors.js";

/** Options of one call. */
export interface CallOptions {
  /** Ends the call when it is aborted; the reason is thrown. */
  signal?: AbortSignal;
  /** The milliseconds of the call with all its retries; those of the client, or an hour for a slow verb, if left out. */
  timeoutMs?: number;
}

/** A file that the server makes: its report, and its bytes as they come. */
export interface Download {
  report: Record<string, unknown>;
  body: ReadableStream<Uint8Array>;
}

/** One page of a list; `next` is the `after` of the page after it, null on the last. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
  /** The times that were given in words, as they were understood. */
  times?: Record<string, string>;
  /** On the last page of events: the time before which they were removed. */
  removed_before?: string;
}

/** A list: awaited, it is its first page; iterated, all items of all pages. Nothing is sent before. */
export class Paged<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #load: (after: string | undefined) => Promise<Page<Item>>;

  constructor(load: (after: string | undefined) => Promise<Page<Item>>) {
    this.#load = load;
  }

  then<Result = Page<Item>, Failure = never>(
    fulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#load(undefined).then(fulfilled, rejected);
  }

  catch<Failure = never>(
    rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page<Item> | Failure> {
    return this.then(null, rejected);
  }

  finally(settled?: (() => void) | null): Promise<Page<Item>> {
    return this.#load(undefined).finally(settled);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    let after: string | undefined;
    do {
      const page = await this.#load(after);
      yield* page.items;
      after = page.next ?? undefined;
    } while (after !== undefined);
  }
}

/** What the client knows of the request of a verb. */
export interface Operation {
  verb: string;
  group: string | null;
  name: string;
  method: string;
  path: string;
  /** Parameters in the query; those in the path stand there, and the others in the body. */
  query: string[];
  hasBody: boolean;
  /** Media type of the file that is sent as the body. */
  takes: string | null;
  takesKey: boolean;
  /** Whether it changes the memory. */
  changes: boolean;
  /** Whether a second request changes nothing more. */
  isRepeatable: boolean;
  /** Whether the answer may take minutes. */
  isSlow: boolean;
  /** The part of the JSON that is the answer: all of it, its items page by page or at once, or one field. */
  answer: "record" | "pages" | "items" | "file" | "none" | { field: string };
  /** Whether it answers null where what it names is not there. */
  isOptional: boolean;
}

/** One request, ready to be sent any number of times. */
export interface Request {
  operation: Pick<Operation, "verb" | "method" | "changes" | "isRepeatable" | "isSlow">;
  path: string;
  headers: Record<string, string>;
  body: string | Blob | undefined;
  key: string | undefined;
}

interface Failure {
  error: EngrainError;
  wasDone: boolean;
  retryAfterS: number;
  /** Whether each further attempt would fail alike. */
  isFinal: boolean;
}

interface Patience {
  deadline: number;
  /** The least milliseconds of one attempt, which may end after the deadline. */
  leastMs: number;
}

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;
const SLOW_MS = 3_600_000;
const MOST_MS = 86_400_000;
/** Problems after which nothing was done: whatever the request was, it may be sent again. */
const UNDONE = new Set(["busy", "rate_limited", "request_timeout", "database_busy"]);
/** Problems that pass, after which a write may or may not be there. */
const PASSING = new Set(["database_unreachable", "outcome_unknown", "memory_closed"]);
/** The problem of an address under which no server of engrain is. */
const NO_ROUTE = "no_such_route";
/** The errors of problems that the library has not, or whose memory is the server's: this client is open. */
const OTHER_ERRORS: Record<string, typeof EngrainError> = {
  [NO_ROUTE]: DatabaseUnreachable,
  memory_closed: DatabaseUnreachable,
  busy: RateLimited,
};
/** Failures of a connection that was never made. */
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);
/** Failures of a connection that can never be made: of a certificate, or of a port that fetch refuses. Nothing is sent. */
const REFUSED = /CERT|^UNABLE_TO_|^CRL_|^ERR_TLS_|WRONG_VERSION_NUMBER|^HOSTNAME_MISMATCH$|^INVALID_CA$|^bad port$/;

/** HTTP client of one server. */
export class Connection {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  constructor(url: string, key: string | undefined, timeoutMs: number) {
    this.#base = parseAddress(url);
    if (key !== undefined && !/^[!-~]+$/.test(key)) {
      throw new InvalidInput("invalid_input", "key is no access key: it is printable ASCII without blanks");
    }
    this.#headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
    this.#timeoutMs = checkTimeout(timeoutMs);
  }

  /** Send a request until it is answered, as far as it may be repeated and time is left; give the good answer. */
  async send<Result>(
    request: Request,
    options: CallOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { operation } = request;
    const hasOwnTime = options.timeoutMs !== undefined;
    const deadline = Date.now() + (hasOwnTime ? checkTimeout(options.timeoutMs) : this.#timeoutMs);
    const leastMs = operation.isSlow && !hasOwnTime ? SLOW_MS : 1;
    let pauseMs = FIRST_PAUSE_MS;
    let wasDone = false;
    for (;;) {
      const outcome = await this.#attempt(request, options.signal, { deadline, leastMs }, read);
      if ("result" in outcome) {
        return outcome.result;
      }
      wasDone = operation.changes && (wasDone || outcome.wasDone);
      const waitMs = Math.max(outcome.retryAfterS * 1_000, pauseMs * (0.5 + Math.random() / 2));
      if (outcome.isFinal || (wasDone && !operation.isRepeatable) || Date.now() + waitMs >= deadline) {
        throw wasDone ? unknownOutcome(request, outcome.error) : outcome.error;
      }
      await pause(waitMs, options.signal);
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
    }
  }

  async #attempt<Result>(
    request: Request,
    signal: AbortSignal | undefined,
    { deadline, leastMs }: Patience,
    read: (response: Response) => Promise<Result>,
  ): Promise<{ result: Result } | Failure> {
    signal?.throwIfAborted();
    const leftMs = Math.max(deadline - Date.now(), leastMs);
    const timer = AbortSignal.timeout(leftMs);
    try {
      const response = await fetch(this.#base + request.path, {
        method: request.operation.method,
        headers: { Accept: "application/json, */*", ...this.#headers, ...request.headers },
        body: request.body ?? null,
        redirect: "manual", // the key is for this address alone
        signal: signal === undefined ? timer : AbortSignal.any([signal, timer]),
      });
      return response.ok ? { result: await read(response) } : await this.#fault(response);
    } catch (error) {
      if (error instanceof EngrainError) {
        throw error;
      }
      signal?.throwIfAborted();
      return this.#lost(error, timer.aborted ? `did not answer within ${leftMs} ms` : "cannot be reached");
    }
  }

  #lost(cause: unknown, what: string): Failure {
    const code = codeOf(cause);
    const isFinal = REFUSED.test(code);
    const next = isFinal ? "its certificate or port is refused here" : "look whether it runs";
    const message = `the server at ${this.#base} ${what} (${code}); ${next}`;
    const error = new DatabaseUnreachable("database_unreachable", message, { cause });
    return { error, wasDone: !isFinal && !UNSENT.has(code), retryAfterS: 0, isFinal };
  }

  /** A problem that passes, as a failure; any other is thrown. */
  async #fault(response: Response): Promise<Failure> {
    const problem = await readProblem(response);
    const retryAfterS = Number(response.headers.get("retry-after")) || 0;
    if (problem.code === undefined) {
      const error = this.#noEngrain(response);
      if (response.status < 500) {
        throw error;
      }
      return { error, wasDone: true, retryAfterS, isFinal: false };
    }
    if (problem.code === NO_ROUTE) {
      problem.detail = `${problem.detail}; look whether ${this.#base} is the address of the server`;
    }
    const error = problemError(problem, response.status, retryAfterS);
    if (UNDONE.has(problem.code) || PASSING.has(problem.code)) {
      return { error, wasDone: PASSING.has(problem.code), retryAfterS, isFinal: false };
    }
    throw error;
  }

  #noEngrain(response: Response): DatabaseUnreachable {
    const kind = (response.headers.get("content-type") ?? "no type").split(";")[0];
    const { status } = response;
    const message =
      status < 400
        ? `${this.#base} redirects (${status}) to another address; open that one`
        : `${this.#base} answered ${status} (${kind}), as no engrain server does`;
    return new DatabaseUnreachable("database_unreachable", message, { status });
  }
}

/** The JSON of an answer; null where there is none. */
export async function readJson(response: Response): Promise<any> {
  const text = await response.text();
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    const message = `${response.url} answered no JSON, as no engrain server does`;
    throw new DatabaseUnreachable("database_unreachable", message, { status: response.status });
  }
}

/** A header as HTTP carries it: names are UTF-8, byte by byte. */
export function headerValue(name: string, value: string): string {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value) || value.trim() !== value || value === "") {
    throw new InvalidInput("invalid_input", `${name} ${JSON.stringify(value)} cannot be sent over HTTP`);
  }
  return String.fromCharCode(...new TextEncoder().encode(value));
}

/** A fresh idempotency key: a UUIDv7, whose time becomes that of the memory's id. */
export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const time = BigInt(Date.now());
  for (let place = 0; place < 6; place += 1) {
    bytes[place] = Number((time >> BigInt(8 * (5 - place))) & 255n);
  }
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Whole milliseconds, at most a day. */
function checkTimeout(value: unknown): number {
  if (typeof value !== "number" || !(value > 0 && value <= MOST_MS)) {
    const message = `timeoutMs is ${String(value)}; give the milliseconds of a call, more than 0 and at most ${MOST_MS}`;
    throw new InvalidInput("invalid_input", message);
  }
  return Math.ceil(value);
}

/** The address of a server without a slash at its end. */
function parseAddress(url: string): string {
  const refuse = (why: string): never => {
    throw new InvalidInput("invalid_input", why);
  };
  const parsed = URL.canParse(url) ? new URL(url) : refuse(`the address ${url} is no URL; give https://host`);
  if (parsed.username !== "" || parsed.password !== "") {
    refuse("the address of a server names no user or password; give the access key as key");
  }
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(parsed.hostname);
  if (parsed.search !== "" || parsed.hash !== "" || !/^https?:$/.test(parsed.protocol)) {
    refuse(`the address ${url} is no server's; give https://host, with a port or path`);
  }
  if (parsed.protocol === "http:" && !isLoopback) {
    refuse(`http://${parsed.host} would carry the key and the memories unencrypted; give https://`);
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}

async function readProblem(response: Response): Promise<{ code?: string; detail?: string; request_id?: string }> {
  try {
    const document = JSON.parse(await response.text());
    return typeof document?.code === "string" ? document : {};
  } catch {
    return {};
  }
}

function problemError(
  problem: { code?: string; detail?: string; request_id?: string },
  status: number,
  retryAfterS: number,
): EngrainError {
  const code = problem.code ?? "engrain_error";
  const known = OTHER_ERRORS[code] ?? ERRORS[code];
  const kind = known ?? (status < 500 ? InvalidInput : EngrainError);
  const requestId = problem.request_id;
  const about = { status, retryAfterS, ...(requestId === undefined ? {} : { requestId }) };
  return new kind(code, problem.detail ?? "", about);
}

function unknownOutcome(request: Request, cause: EngrainError): OutcomeUnknown {
  const { key, operation } = request;
  const next = key === undefined ? "look whether it is there" : `repeat it with idempotency_key ${key}`;
  const message = `${operation.verb} was sent and its answer is lost (${cause.message}): ${next}`;
  return new OutcomeUnknown("outcome_unknown", message, { cause });
}

function codeOf(error: unknown): string {
  const cause = (error as { cause?: { code?: unknown; message?: unknown } } | undefined)?.cause;
  const known = [cause?.code, cause?.message].find((text) => typeof text === "string" && text !== "");
  return typeof known === "string" ? known : error instanceof Error ? error.name : String(error);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
