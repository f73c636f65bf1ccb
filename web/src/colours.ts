/** Colours of the style sheet for what is drawn on a canvas. */

import { useEffect } from "preact/hooks";
import type { RefObject } from "preact";

/** A colour of the style sheet by its name, as it is in light or dark now. */
export function resolveColour(place: HTMLElement, name: string): string {
  const probe = place.appendChild(document.createElement("span"));
  probe.style.color = `var(${name})`;
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

/** Draw into an element, and again when light turns to dark; `draw` answers with what takes the drawing away. */
export function useDrawing(place: RefObject<HTMLElement | null>, draw: (place: HTMLElement) => Promise<() => void>, keys: unknown[]): void {
  useEffect(() => {
    let remove = (): void => {};
    let turn = 0;
    const redraw = async (): Promise<void> => {
      const mine = (turn += 1);
      if (place.current === null) return;
      const drawn = await draw(place.current);
      if (mine !== turn) return drawn(); // it is no longer wanted
      remove();
      remove = drawn;
    };
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const follow = (): void => void redraw();
    dark.addEventListener("change", follow);
    follow();
    return () => {
      turn += 1;
      dark.removeEventListener("change", follow);
      remove();
    };
  }, keys);
}
