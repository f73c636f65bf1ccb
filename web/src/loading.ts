/** Loading of answers: what is on its way, what came, and what failed. */

import { useEffect, useState } from "preact/hooks";
import type { Page } from "engrain";
import { explainError } from "./session";

export interface Loaded<Value> {
  value: Value | undefined;
  error: string | undefined;
  isLoading: boolean;
  reload(): void;
}

/** Load a value whenever the keys change; an answer that is no longer wanted is given up, and what is still shown of other keys counts as loading. */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => PromiseLike<Value>,
  keys: unknown[],
  { delayMs = 0 }: { delayMs?: number } = {},
): Loaded<Value> {
  const [answer, setAnswer] = useState<{ of: unknown[]; value?: Value; error?: string } | null>(null);
  const [turn, setTurn] = useState(0);
  const asked = [...keys, turn];
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const value = await load(stop.signal);
        if (!stop.signal.aborted) setAnswer({ of: asked, value });
      } catch (error) {
        if (!stop.signal.aborted) setAnswer({ of: asked, error: explainError(error) });
      }
    }, delayMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, asked);
  const isLoading = answer === null || asked.some((key, place) => key !== answer.of[place]);
  return { value: answer?.value, error: answer?.error, isLoading, reload: () => setTurn((before) => before + 1) };
}

export interface LoadedPages<Item> extends Loaded<Item[]> {
  /** Load the page after the last one; undefined where there is none. */
  more: (() => void) | undefined;
}

/** Load a list page by page, never all at once. */
export function usePages<Item>(
  load: (after: { after?: string }, signal: AbortSignal) => PromiseLike<Page<Item>>,
  keys: unknown[],
  options: { delayMs?: number } = {},
): LoadedPages<Item> {
  const first = useLoaded<Page<Item>>((signal) => load({}, signal), keys, options);
  const [rest, setRest] = useState<{ of: Page<Item>; items: Item[]; next: string | null; error?: string } | null>(null);
  const [isLoading, setIsLoading] = useState(false);
  const page = first.value;
  const later = rest !== null && rest.of === page ? rest : null;
  const next = later === null ? page?.next : later.next;
  const more = async (): Promise<void> => {
    if (page === undefined || !next || isLoading) return;
    setIsLoading(true);
    try {
      const got = await load({ after: next }, new AbortController().signal);
      setRest({ of: page, items: [...(later?.items ?? []), ...got.items], next: got.next });
    } catch (error) {
      setRest({ of: page, items: later?.items ?? [], next, error: explainError(error) });
    } finally {
      setIsLoading(false);
    }
  };
  return {
    value: page && [...page.items, ...(later?.items ?? [])],
    error: first.error ?? later?.error,
    isLoading: first.isLoading || isLoading,
    reload: first.reload,
    more: next ? more : undefined,
  };
}
