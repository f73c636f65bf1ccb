/** Acts on one memory: correct, confirm, forget, erase. Each says what it will do first, and how it is undone. */

import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { Engrain, Memory } from "engrain";
import { useLoaded } from "../loading";
import { useNotices } from "../notices";
import type { Notice } from "../notices";
import { Dialog, Problem, Shown } from "../parts";
import { address } from "../router";
import { explainError, useSession } from "../session";
import type { Session } from "../session";
import { isLive, sayMemory, showCount } from "../texts";

const DAY_MS = 86_400_000;

type Act = "correct" | "confirm" | "forget" | "erase";

interface ActionsProps {
  memory: Memory;
  changed: () => void;
}

export function Actions({ memory, changed }: ActionsProps): VNode | null {
  const { may } = useSession();
  const [act, setAct] = useState<Act | null>(null);
  const notify = useNotices();
  const offered = offeredActs(memory, may("writer"), may("admin"));
  if (offered.length === 0) return null;
  const finish = (notice: Notice): void => {
    setAct(null);
    notify(notice);
    changed();
  };
  return (
    <div class="actions">
      {offered.map((name) => <button key={name} type="button" class={name === "erase" ? "danger" : ""} onClick={() => setAct(name)}>{LABELS[name]}</button>)}
      {act !== null && <ActDialog act={act} memory={memory} close={() => setAct(null)} finish={finish} />}
    </div>
  );
}

const LABELS: Record<Act, string> = { correct: "Correct", confirm: "Confirm", forget: "Forget", erase: "Erase" };

function offeredActs(memory: Memory, mayWrite: boolean, isAdmin: boolean): Act[] {
  const acts: Act[] = [];
  if (mayWrite && isLive(memory)) {
    if (memory.kind === "fact") acts.push("correct");
    if (memory.kind !== "episode") acts.push("confirm");
    acts.push("forget");
  }
  if (isAdmin) acts.push("erase");
  return acts;
}

interface ActDialogProps {
  act: Act;
  memory: Memory;
  close: () => void;
  finish: (notice: Notice) => void;
}

function ActDialog({ act, memory, close, finish }: ActDialogProps): VNode {
  const session = useSession();
  const [content, setContent] = useState(memory.content);
  const [cascade, setCascade] = useState<"none" | "seen">("seen");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setIsBusy(true);
    try {
      finish(await perform(session, act, memory, { content: content.trim(), cascade }));
    } catch (error) {
      setProblem(explainError(error));
      setIsBusy(false);
    }
  };
  const isReady = act !== "correct" || (content.trim() !== "" && content.trim() !== memory.content);
  return (
    <Dialog title={`${LABELS[act]} this ${memory.kind}?`} close={close}>
      <form onSubmit={submit}>
        <blockquote dir="auto" class="said">{sayMemory(memory)}</blockquote>
        {act === "correct" && (
          <label class="field tall">What is right
            <textarea rows={3} dir="auto" autoFocus value={content} onInput={(event) => setContent(event.currentTarget.value)} />
          </label>
        )}
        <Consequences act={act} memory={memory}>
          {act === "erase" && (
            <fieldset>
              <legend>What was derived from it</legend>
              <label class="check"><input type="radio" name="cascade" checked={cascade === "seen"} onChange={() => setCascade("seen")} />Erase it too, as far as this agent sees it</label>
              <label class="check"><input type="radio" name="cascade" checked={cascade === "none"} onChange={() => setCascade("none")} />Leave it: it keeps the text</label>
            </fieldset>
          )}
        </Consequences>
        {problem !== null && <Problem text={problem} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class={act === "erase" ? "danger main" : "main"} disabled={!isReady || isBusy}>{LABELS[act]}</button>
        </div>
      </form>
    </Dialog>
  );
}

const EFFECTS: Record<Act, string[]> = {
  correct: ["The new text takes the place of this one from now on.", "This one stays readable in the history, and answers questions about the past.", "Undo writes the old text as the newest version."],
  confirm: ["Its decay begins anew from today.", "What only a tool or an assistant said is believed from now on as if the user had said it; a pending fact takes the place of the one before it.", "This cannot be undone; a fact can be corrected or forgotten later."],
  forget: ["It leaves every search at once, of the past too.", "It stays readable by its id, with its history."],
  erase: ["It goes for good: text, vector, words in the index, and its text in events.", "An id and a digest stay, to show later what was erased.", "This cannot be undone."],
};

function Consequences({ act, memory, children }: { act: Act; memory: Memory; children: ComponentChildren }): VNode {
  const session = useSession();
  const effects = act === "forget" ? [...EFFECTS[act], sayUndo(session, memory)] : EFFECTS[act];
  return (
    <>
      <h3>What will happen</h3>
      <ul class="effects">{effects.map((effect) => <li key={effect}>{effect}</li>)}</ul>
      {(act === "forget" || act === "erase") && <Derived memory={memory} />}
      {children}
    </>
  );
}

/** The memories that were derived from one, which keep its text unless they go with it. */
function Derived({ memory }: { memory: Memory }): VNode {
  const { client } = useSession();
  const derived = useLoaded((signal) => client.links({ id: memory.id, direction: "incoming", relation: "derived_from" }, { signal }), [client, memory.id]);
  return (
    <Shown of={derived}>
      {(links) => links.length === 0 ? <p class="quiet">No link says that another memory was derived from it.</p> : (
        <p>Derived from it: {showCount(links.length, "memory", "memories")}, such as <a href={address("memory", links[0]!.source_id)}>{links[0]!.source_id}</a>.</p>
      )}
    </Shown>
  );
}

async function perform(session: Session, act: Act, memory: Memory, { content, cascade }: { content: string; cascade: "none" | "seen" }): Promise<Notice> {
  const { client } = session;
  const id = memory.id;
  switch (act) {
    case "correct": {
      const fact = await client.correct({ id, content, source: "corrected on the page" });
      location.hash = address("memory", fact.id);
      return { text: "Corrected.", undo: async () => address("memory", (await client.correct({ id: fact.id, content: memory.content, source: "undo of a correction" })).id) };
    }
    case "confirm":
      await client.confirm({ id });
      return { text: "Confirmed." };
    case "forget": {
      await client.forget({ id });
      const writer = findWriter(session, memory);
      if (writer === null) return { text: `Forgotten. ${sayUndo(session, memory)}` };
      return { text: "Forgotten.", undo: async () => address("memory", (await storeAgain(writer, memory)).id) };
    }
    case "erase": {
      const report = await client.erase({ ids: [id], cascade });
      const left = report.derived.length === 0 ? "" : ` ${showCount(report.derived.length, "derived memory", "derived memories")} stayed.`;
      return { text: `Erased ${showCount(report.erased.length, "memory", "memories")}.${left}` };
    }
  }
}

function sayUndo(session: Session, memory: Memory): string {
  if (findWriter(session, memory) !== null) return "Undo stores the same text again, as a new memory.";
  return `This cannot be undone here: nothing that the page may store goes to the scope ${memory.scope}.`;
}

/** The client that can store a memory in the scope of this one; null where none can. */
function findWriter({ client, caller }: Session, { kind, scope }: Memory): Engrain | null {
  const isOfUser = scope.startsWith("user:");
  const audience = isOfUser ? scope.split("/").slice(1).join("/") : scope;
  if (kind === "episode" && audience !== caller.agent) return null; // an episode is its agent's own
  if (isOfUser || caller.user === null || audience === "global") return client;
  return caller.key_user === null ? client.agent(caller.agent, { user: null }) : null;
}

/** Store what was forgotten again, as a new memory of the same words, for those who saw it and as long as it had. */
function storeAgain(client: Engrain, memory: Memory): Promise<Memory> {
  const { content, tags, metadata, scope } = memory;
  switch (memory.kind) {
    case "episode": {
      const ttl_days = memory.expires_at === null ? null : Math.max(Date.parse(memory.expires_at) - Date.now(), 0) / DAY_MS;
      return client.observe({ content, ttl_days, tags, metadata, role: memory.role, speaker: memory.speaker, session: memory.session, event_time: memory.event_time, importance: memory.importance, model: memory.model, tokens: memory.tokens, tool_calls: memory.tool_calls });
    }
    case "rule":
      return client.rules.add({ content, tags, metadata, scope, source_episode_id: memory.source_episode_id });
    case "fact":
      return client.remember({
        content, tags, metadata, subject: memory.subject, predicate: memory.predicate, entity_id: memory.entity_id, scope, valid_from: memory.valid_from, valid_to: memory.valid_to,
        category: memory.category, permanence: memory.permanence, importance: memory.importance, confidence: memory.confidence, source: memory.source, source_episode_id: memory.source_episode_id,
      });
  }
}
