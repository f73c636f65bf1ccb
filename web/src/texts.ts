/** Words and numbers as people read them. */

import type { Memory } from "engrain";

const DAY_MS = 86_400_000;

/** A day, with the time where the moment has one; in UTC, as the server says it. */
export function showTime(time: string | null | undefined): string {
  if (!time) return "–";
  const [day = "", clock = ""] = time.split("T", 2);
  const minutes = clock.slice(0, 5);
  return minutes === "" || minutes === "00:00" ? day : `${day} ${minutes}`;
}

export function showDay(time: string | null | undefined): string {
  return time ? time.slice(0, 10) : "–";
}

/** The last moment of a day, which is what "as believed on" it means; other words as they are. */
export function endOfDay(words: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(words) ? `${words}T23:59:59.999999Z` : words;
}

/** How long ago a moment is, in its largest unit. */
export function showAge(time: string, now = Date.now()): string {
  const days = Math.floor((now - Date.parse(time)) / DAY_MS);
  if (days < 0) return "later";
  if (days === 0) return "today";
  if (days < 60) return `${days} d ago`;
  return days < 730 ? `${Math.floor(days / 30.4)} mo ago` : `${Math.floor(days / 365.25)} y ago`;
}

export function showNumber(value: number, digits = 3): string {
  return value.toFixed(digits);
}

export function showCount(count: number, thing: string, things = `${thing}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? thing : things}`;
}

/** The words of a code such as `fact_created`. */
export function showCode(code: string): string {
  return code.replaceAll("_", " ");
}

/** The statement of a memory on one line: a fact with its subject and predicate. */
export function sayMemory(memory: Memory): string {
  if (memory.kind !== "fact" || memory.predicate === memory.content) return memory.content;
  return `${memory.subject} ${showCode(memory.predicate)}: ${memory.content}`;
}

/** The state of a memory: whether it is found, and if not why. */
export function stateOf(memory: Memory): string {
  if (memory.kind === "fact") return memory.pending && ["active", "fading"].includes(memory.state) ? "pending" : memory.state;
  if (memory.kind === "rule") return memory.metadata["forgotten"] ? "forgotten" : memory.maturity;
  return memory.expires_at !== null && Date.parse(memory.expires_at) <= Date.now() ? "expired" : memory.consolidation_status;
}

/** Whether a memory still stands in searches. */
export function isLive(memory: Memory): boolean {
  return !["superseded", "retracted", "expired", "forgotten"].includes(stateOf(memory));
}
