/** Notice of what was done last, with its undo; it stays while one moves on to the memory that came of it. */

import { createContext } from "preact";
import type { VNode } from "preact";
import { useContext, useState } from "preact/hooks";
import { Problem } from "./parts";
import { explainError } from "./session";

/** What was done, and how it is taken back; undo answers with the address to show then. */
export interface Notice {
  text: string;
  undo?: () => Promise<string>;
}

export const NoticeContext = createContext<(notice: Notice | null) => void>(() => {});

export function useNotices(): (notice: Notice | null) => void {
  return useContext(NoticeContext);
}

export function NoticeBar({ notice, close }: { notice: Notice; close: () => void }): VNode {
  const [problem, setProblem] = useState<string | null>(null);
  const [state, setState] = useState<"done" | "undoing" | "undone">("done");
  const undo = async (): Promise<void> => {
    setState("undoing");
    try {
      location.hash = await notice.undo!();
      setState("undone");
    } catch (error) {
      setProblem(explainError(error));
      setState("done");
    }
  };
  return (
    <div class="notice" role="status">
      <span>{state === "undone" ? "Undone." : notice.text}</span>
      {notice.undo !== undefined && state !== "undone" && <button type="button" onClick={undo} disabled={state === "undoing"}>Undo</button>}
      <button type="button" class="link" onClick={close}>Close</button>
      {problem !== null && <Problem text={problem} />}
    </div>
  );
}
