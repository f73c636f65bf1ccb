/** Session with the server: the key, the caller it speaks for, and the client with which views ask. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Engrain, EngrainError, Unauthenticated } from "engrain";
import type { AdmittedCaller } from "engrain";

const [KEY, IDENTITY] = ["engrain.key", "engrain.identity"];
const LEVELS = ["reader", "writer", "admin"] as const;
export type Role = (typeof LEVELS)[number];

/** A session: `client` acts for the chosen agent and user. */
export interface Session {
  client: Engrain;
  caller: AdmittedCaller;
  /** Whether the role of the key allows what needs this role. */
  may(role: Role): boolean;
  /** Whether the key speaks for every agent and user of its tenant. */
  isUnbound: boolean;
  hasKey: boolean;
}

/** Whom the page acts for; undefined is the key's own agent, or the server's. */
export interface Identity {
  agent: string | undefined;
  user: string | undefined;
}

export const NOBODY: Identity = { agent: undefined, user: undefined };

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("a view stands outside of a session");
  return session;
}

/** Sign in with a key, or with none; throws `Unauthenticated` where the key opens nothing. */
export async function openSession(key: string | undefined, identity: Identity): Promise<Session> {
  const url = location.origin + location.pathname;
  const client = new Engrain({ url, timeoutMs: 20_000, ...(key === undefined ? {} : { key }) });
  const acting = identityOf(identity);
  const chosen = client.agent(acting.agent, acting.user === undefined ? {} : { user: acting.user });
  const caller = await chosen.caller();
  const level = LEVELS.indexOf(caller.key_role);
  return {
    client: chosen,
    caller,
    may: (role) => level >= LEVELS.indexOf(role),
    isUnbound: caller.key_agent === null && caller.key_user === null,
    hasKey: key !== undefined,
  };
}

function identityOf({ agent, user }: Identity): Identity {
  return { agent: agent || undefined, user: user || undefined };
}

/** The key of this tab, which is forgotten when the tab is closed. */
export function storedKey(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Whom this tab acts for. */
export function storedIdentity(): Identity {
  return { ...NOBODY, ...JSON.parse(sessionStorage.getItem(IDENTITY) ?? "{}") };
}

export function storeSession(key: string | undefined, identity: Identity): void {
  forgetSession();
  if (key !== undefined) sessionStorage.setItem(KEY, key);
  sessionStorage.setItem(IDENTITY, JSON.stringify(identity));
}

export function forgetSession(): void {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(IDENTITY);
}

/** Exchange the one-time key of the address for a token, and take it out of the address. */
export async function redeemOneTimeKey(): Promise<void> {
  const [, once] = location.hash.match(/^#once=([\w-]+)$/) ?? [];
  if (once === undefined) return;
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("./page/sign-in", { method: "POST", headers: { Authorization: `Bearer ${once}` } });
  if (!answer.ok) throw new Unauthenticated("unauthenticated", "This address opens once, and was opened before. Start engrain ui again.");
  storeSession(await answer.text(), NOBODY);
}

/** A sentence about an error, for people. */
export function explainError(error: unknown): string {
  if (error instanceof EngrainError) return error.message || error.code;
  return error instanceof Error ? error.message : String(error);
}
