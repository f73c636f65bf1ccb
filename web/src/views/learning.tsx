/** Learning: what each run learned and from which words, what it rejected and why, what waits, and what an audit finds. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Audit, Engrain, Episode, Event, Finding, Memory, Rejection, Run, UndoResult } from "engrain";
import { useLoaded, usePages } from "../loading";
import { useNotices } from "../notices";
import { Badge, Dialog, MemoryLine, More, Problem, Quote, Shown } from "../parts";
import { address } from "../router";
import { explainError, useSession } from "../session";
import { showCode, showCount, showDay, showTime } from "../texts";

const RUNS = 20;
const CHANGES = 50;
const FINDINGS = 10;
const SESSIONS = 50;

export function LearningView(): VNode {
  const { may } = useSession();
  const [turn, setTurn] = useState(0);
  return (
    <section class="one" aria-labelledby="learning-title">
      <h1 id="learning-title">Learning</h1>
      <Runs turn={turn} changed={() => setTurn(turn + 1)} />
      <Waiting turn={turn} />
      {may("admin") && <Findings />}
    </section>
  );
}

function Runs({ turn, changed }: { turn: number; changed: () => void }): VNode {
  const { client } = useSession();
  const runs = usePages((after, signal) => client.runs({ limit: RUNS, ...after }, { signal }), [client, turn]);
  return (
    <section aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      <Shown of={runs}>
        {(list) => list.length === 0 ? <p class="quiet">Nothing was learned yet: <code>engrain consolidate</code> learns from conversations.</p> : (
          <ul class="list">{list.map((run) => <li key={run.id}><RunRow run={run} changed={changed} /></li>)}</ul>
        )}
      </Shown>
      <More of={runs} />
    </section>
  );
}

function RunRow({ run, changed }: { run: Run; changed: () => void }): VNode {
  const { may } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const [isUndoing, setIsUndoing] = useState(false);
  const rejected = rejectionsOf(run);
  const tone = run.status === "failed" || run.status === "abandoned" ? "warn" : run.status === "undone" ? "gone" : "";
  return (
    <article class="run">
      <div class="line">
        <button type="button" class="link" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>{showCode(run.kind)}, {showTime(run.started_at)}</button>
        <Badge text={run.status} tone={tone} />
        <span class="quiet">
          {showCount(run.episode_ids.length, "episode")}{run.model !== null && <> · <bdi>{run.model}</bdi></>}{rejected.length > 0 && ` · ${rejected.length} rejected`}
        </span>
        {may("admin") && (run.status === "done" || run.status === "failed") && <button type="button" class="end" onClick={() => setIsUndoing(true)}>Undo</button>}
      </div>
      {run.error !== null && <p class="warning">{run.error}</p>}
      {isOpen && <RunDetails run={run} rejected={rejected} />}
      {isUndoing && <UndoDialog run={run} close={() => setIsUndoing(false)} changed={changed} />}
    </article>
  );
}

function rejectionsOf(run: Run): Rejection[] {
  const rejected = run.report["rejected"];
  return Array.isArray(rejected) ? (rejected as Rejection[]) : [];
}

/** A memory that a run changed: the changes by the types of their events, and the episode it was learned from. */
interface Change {
  id: string;
  types: string[];
  memory: Memory | null;
  source: Episode | null;
}

/** Events of a run that tell of a fact or a rule; the others tell of its episodes, links and itself. */
const OF_A_CHANGE = /^(fact|rule)_/;

async function loadChanges(client: Engrain, run: Run, after: { after?: string }, signal: AbortSignal): Promise<{ items: Change[]; next: string | null }> {
  const page = await client.events({ run_id: run.id, limit: CHANGES, ...after }, { signal });
  const told = page.items.filter((event): event is Event & { memory_id: string } => event.memory_id !== null && OF_A_CHANGE.test(event.event_type));
  const types = Map.groupBy(told, (event) => event.memory_id);
  const get = (id: string): Promise<Memory | null> => client.get({ id, count_references: false }, { signal });
  const items = await Promise.all([...types].map(async ([id, events]) => {
    const memory = await get(id);
    const source = memory !== null && memory.kind !== "episode" && memory.source_episode_id !== null ? await get(memory.source_episode_id) : null;
    return { id, types: [...new Set(events.map((event) => event.event_type))], memory, source: source?.kind === "episode" ? source : null };
  }));
  return { items, next: page.next };
}

function RunDetails({ run, rejected }: { run: Run; rejected: Rejection[] }): VNode {
  const { client } = useSession();
  const changes = usePages((after, signal) => loadChanges(client, run, after, signal), [client, run.id, run.status]);
  const errors = run.report["parse_errors"];
  return (
    <div class="details">
      <section aria-label="Learned">
        <h3>Learned</h3>
        <Shown of={changes}>
          {(list) => list.length === 0 ? <p class="quiet">It changed no memory that is seen here.</p> : <ul class="list">{list.map((change, place) => <li key={place}><ChangeRow change={change} /></li>)}</ul>}
        </Shown>
        <More of={changes} />
      </section>
      {rejected.length > 0 && (
        <section aria-label="Rejected">
          <h3>Rejected</h3>
          <ul class="list">{rejected.map((rejection, place) => <li key={place} class="line"><Badge text={showCode(rejection.kind)} /><Badge text={showCode(rejection.reason)} tone="warn" /><bdi class="said">{rejection.said}</bdi></li>)}</ul>
        </section>
      )}
      {Array.isArray(errors) && errors.length > 0 && (
        <section aria-label="Not understood">
          <h3>Not understood</h3>
          <ul class="list">{errors.map((error, place) => <li key={place}><bdi class="said">{String(error)}</bdi></li>)}</ul>
        </section>
      )}
      <p class="quiet">
        Run <code>{run.id}</code>{run.finished_at !== null && `, ended ${showTime(run.finished_at)}`}{run.prompt_version !== null && <>, prompt {run.prompt_version}</>}{sayUsage(run)}
      </p>
    </div>
  );
}

function sayUsage(run: Run): string {
  const usage = run.report["usage"] as { input_tokens?: number; output_tokens?: number; cost_usd?: number } | undefined;
  if (usage?.input_tokens === undefined) return "";
  const cost = usage.cost_usd ? `, $${usage.cost_usd.toFixed(4)}` : "";
  return `, ${showCount(usage.input_tokens, "token")} in, ${(usage.output_tokens ?? 0).toLocaleString("en")} out${cost}`;
}

function ChangeRow({ change }: { change: Change }): VNode {
  const said = change.types.map((type) => <Badge key={type} text={showCode(type)} />);
  if (change.memory === null) return <p class="line quiet">{said}<code>{change.id}</code> is erased, or not for this agent.</p>;
  return (
    <>
      <MemoryLine memory={change.memory}><p class="relation line">{said}</p></MemoryLine>
      {change.source !== null && <div class="indented"><Quote episode={change.source} says={change.memory} /></div>}
    </>
  );
}

interface UndoDialogProps {
  run: Run;
  close: () => void;
  changed: () => void;
}

function UndoDialog({ run, close, changed }: UndoDialogProps): VNode {
  const { client } = useSession();
  const notify = useNotices();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setIsBusy(true);
    try {
      notify({ text: sayUndo(await client.undo({ run_id: run.id })) });
      close();
      changed();
    } catch (error) {
      setProblem(explainError(error));
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={`Undo this ${run.kind}?`} close={close}>
      <form onSubmit={submit}>
        <p class="quiet">{showCode(run.kind)} of {showTime(run.started_at)}, {showCount(run.episode_ids.length, "episode")}</p>
        <h3>What will happen</h3>
        <ul class="effects">
          <li>What it learned leaves every search, and stays readable by its id.</li>
          <li>What it superseded, confirmed or doubted is as before.</li>
          <li>What somebody confirmed, marked or changed since stays.</li>
          <li>Its episodes wait again, and are learned from anew. The undo itself cannot be undone.</li>
        </ul>
        {problem !== null && <Problem text={problem} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class="danger main" disabled={isBusy}>Undo</button>
        </div>
      </form>
    </Dialog>
  );
}

function sayUndo({ restored, kept }: UndoResult): string {
  const reasons = [...new Set(kept.map((item) => item.reason))].join("; ");
  return `Undone: ${showCount(restored.length, "change")} taken back.${kept.length === 0 ? "" : ` ${kept.length} kept: ${reasons}.`}`;
}

function Waiting({ turn }: { turn: number }): VNode {
  const { client, caller, isUnbound, may } = useSession();
  const seesRetries = may("admin") && isUnbound;
  const overview = useLoaded((signal) => client.overview({ days: 0, limit: SESSIONS }, { signal }), [client, turn]);
  const retries = useLoaded(
    async (signal) => seesRetries ? (await client.consolidate({ dry_run: true, agent: caller.agent }, { signal })).waiting : [],
    [client, turn],
  );
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waits to be learned from</h2>
      <Shown of={overview}>
        {({ stats, waiting_sessions: sessions }) => (
          <>
            <p class="quiet">{showCount(stats.episodes.unconsolidated, "episode")}{stats.episodes.given_up > 0 && `, ${stats.episodes.given_up} of them given up`}</p>
            <ul class="list">
              {sessions.map((session) => (
                <li key={session.session} class="line">
                  {session.session === "" ? "no session" : <a href={address("search", undefined, { q: session.session, session: session.session })}><bdi>{session.session}</bdi></a>}
                  <span class="quiet">{showCount(session.episodes, "episode")} since {showDay(session.first_seen_at)}</span>
                </li>
              ))}
            </ul>
            {sessions.length === SESSIONS && <p class="quiet">The {SESSIONS} that have waited longest.</p>}
          </>
        )}
      </Shown>
      {(retries.value ?? []).map((backlog, place) => <p key={place} class="warning">{showCount(backlog.episodes, "episode")} wait until {showTime(backlog.retry_at)} after a failure: {backlog.reason}</p>)}
      {retries.error !== undefined && <Problem text={retries.error} />}
    </section>
  );
}

const KINDS = ["secret", "contradiction", "duplicate", "near_duplicate", "echo", "stale", "orphaned", "never_recalled"] as const;

/** The audit reads many memories, so it begins when it is asked for. */
function Findings(): VNode {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">Audit</h2>
      {isAsked ? <FoundFindings /> : (
        <>
          <p class="quiet">Looks for secrets, contradictions, duplicates, and what is stale or was never recalled. Nothing is changed.</p>
          <button type="button" class="more" onClick={() => setIsAsked(true)}>Look for problems</button>
        </>
      )}
    </section>
  );
}

function FoundFindings(): VNode {
  const { client } = useSession();
  const [kind, setKind] = useState<(typeof KINDS)[number] | "">("");
  const [audit, setAudit] = useState<Audit | null>(null);
  const findings = usePages<Finding>(
    async ({ after = "0" }, signal) => {
      const skip = Number(after);
      const found = await client.audit({ limit: FINDINGS, skip, ...(kind === "" ? {} : { kinds: [kind] }) }, { signal });
      setAudit(found);
      const isMore = Object.values(found.counts).some((count) => count > skip + FINDINGS);
      return { items: found.findings, next: isMore ? String(skip + FINDINGS) : null };
    },
    [client, kind],
  );
  return (
    <>
      <label class="field narrow">Kind
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value as typeof kind)}>
          <option value="">any</option>
          {KINDS.map((name) => <option key={name} value={name}>{showCode(name)}</option>)}
        </select>
      </label>
      <Shown of={findings}>
        {(list) => (
          <>
            {audit !== null && <p class="summary" role="status">{showCount(Object.values(audit.counts).reduce((sum, count) => sum + count, 0), "finding")} in {showCount(audit.memories, "memory", "memories")}{!audit.is_complete && ", which are not all"}</p>}
            <ul class="list">{list.map((finding, place) => <li key={place}><FindingRow finding={finding} /></li>)}</ul>
          </>
        )}
      </Shown>
      <More of={findings} />
    </>
  );
}

function FindingRow({ finding }: { finding: Finding }): VNode {
  return (
    <article class="finding">
      <p class="line"><Badge text={finding.severity} tone={finding.severity === "low" ? "" : "warn"} /><Badge text={showCode(finding.kind)} /><bdi class="said">{finding.says}</bdi></p>
      <p class="line quiet">{finding.ids.map((id) => <a key={id} href={address("memory", id)}><code>{id}</code></a>)}</p>
      {finding.command !== "" && <code>{finding.command}</code>}
    </article>
  );
}
