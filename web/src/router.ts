/** Addresses of views: `#/view/id?name=value`, so that each view can be linked to and opened anew. */

import { useEffect, useRef, useState } from "preact/hooks";

/** Where the page is: the view, the id of what it shows, and its arguments. */
export interface Place {
  view: string;
  id: string | undefined;
  args: URLSearchParams;
}

/** A place that was opened; `turn` counts them, so that the same view opened again is a new one. */
export interface OpenedPlace extends Place {
  turn: number;
}

export function parsePlace(hash: string): Place {
  const [, path = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [view = "", id] = path.split("/", 2);
  return { view: view || "search", id: id === undefined ? undefined : decodePart(id), args: new URLSearchParams(query) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone percent sign, as people type it
  }
}

/** The address of a view; arguments that are empty are left out. */
export function address(view: string, id?: string, args: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (value) query.set(name, value);
  }
  const path = id === undefined ? view : `${view}/${encodeURIComponent(id)}`;
  return `#/${path}${query.size === 0 ? "" : `?${query}`}`;
}

/** Change the arguments of the view that is open, without a new entry in the history. */
export function replaceArgs(args: Record<string, string | undefined>): void {
  const { view, id } = parsePlace(location.hash);
  history.replaceState(null, "", address(view, id, args));
}

export function usePlace(): OpenedPlace {
  const [place, setPlace] = useState(() => ({ ...parsePlace(location.hash), turn: 0 }));
  const shown = useRef(location.hash);
  useEffect(() => {
    const follow = (): void => setPlace(({ turn }) => ({ ...parsePlace(location.hash), turn: turn + 1 }));
    addEventListener("hashchange", follow);
    if (location.hash !== shown.current) follow(); // it changed before anybody listened
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}
