/** Administration: users with their counts, export and erasure; access keys; jobs in the background. */

import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { AccessKey, CreatedKey, Job, UserCounts, UserErasure } from "engrain";
import { useLoaded, usePages } from "../loading";
import { useNotices } from "../notices";
import { Badge, Dialog, More, Problem, Shown } from "../parts";
import { explainError, useSession } from "../session";
import type { Role } from "../session";
import { showCode, showCount, showDay, showTime } from "../texts";

const USERS = 50;
const KEYS = 50;
const JOBS = 25;
const ROLES: readonly Role[] = ["reader", "writer", "admin"];
const JOB_NAMES = ["enrichment", "consolidation", "decay", "reflection", "cleanup", "compaction", "backup"] as const;
const STATUSES = ["waiting", "running", "done", "dead_letter", "skipped"] as const;

export function AdminView(): VNode {
  return (
    <section class="one" aria-labelledby="admin-title">
      <h1 id="admin-title">Administration</h1>
      <Users />
      <Keys />
      <Jobs />
    </section>
  );
}

/** Runs one act at a time, and keeps the reason why it failed. */
function useAct(): { problem: string | null; isBusy: boolean; run: (act: () => Promise<void>) => Promise<void> } {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const run = async (act: () => Promise<void>): Promise<void> => {
    setIsBusy(true);
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(explainError(error));
    } finally {
      setIsBusy(false);
    }
  };
  return { problem, isBusy, run };
}

function Users(): VNode {
  const { client } = useSession();
  const users = usePages((after, signal) => client.users({ limit: USERS, ...after }, { signal }), [client]);
  const [erased, setErased] = useState<string | null>(null);
  const { problem, run } = useAct();
  const save = (name: string): Promise<void> => run(async () => {
    const file = await client.exportUser({ name });
    const url = URL.createObjectURL(await new Response(file.body).blob());
    Object.assign(document.createElement("a"), { href: url, download: `${name.replace(/[^\w.-]+/g, "_")}.jsonl` }).click();
    URL.revokeObjectURL(url);
  });
  return (
    <section aria-labelledby="users">
      <h2 id="users">Users</h2>
      <Shown of={users}>
        {(list) => list.length === 0 ? <p class="quiet">No memory belongs to an end user.</p> : (
          <table>
            <thead><tr><th scope="col">User</th><th scope="col">Episodes</th><th scope="col">Facts</th><th scope="col">Rules</th><th scope="col"><span class="hidden">Acts</span></th></tr></thead>
            <tbody>{list.map((user) => <UserRow key={user.user_id} user={user} save={save} erase={setErased} />)}</tbody>
          </table>
        )}
      </Shown>
      <More of={users} />
      {problem !== null && <Problem text={problem} />}
      {erased !== null && <EraseUser name={erased} close={() => setErased(null)} finish={users.reload} />}
    </section>
  );
}

function UserRow({ user, save, erase }: { user: UserCounts; save: (name: string) => Promise<void>; erase: (name: string) => void }): VNode {
  const name = user.user_id;
  return (
    <tr>
      <th scope="row"><bdi>{name}</bdi></th><td>{user.episodes}</td><td>{user.facts}</td><td>{user.rules}</td>
      <td class="acts">
        <button type="button" aria-label={`Export ${name}`} onClick={() => void save(name)}>Export</button>
        <button type="button" class="danger" aria-label={`Erase ${name}`} onClick={() => erase(name)}>Erase</button>
      </td>
    </tr>
  );
}

function EraseUser({ name, close, finish }: { name: string; close: () => void; finish: () => void }): VNode {
  const { client } = useSession();
  const notify = useNotices();
  const [typed, setTyped] = useState("");
  const plan = useLoaded((signal) => client.eraseUser({ name, dry_run: true }, { signal }), [client, name]);
  const { problem, isBusy, run } = useAct();
  const submit = (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    return run(async () => {
      const proof = await client.eraseUser({ name });
      notify({ text: `Erased ${name}: ${showCount(countRows(proof), "row")}. The proof is ${proof.sha256}.` });
      close();
      finish();
    });
  };
  return (
    <Dialog title={`Erase the user ${name}?`} close={close}>
      <form onSubmit={submit}>
        <h3>What will happen</h3>
        <Shown of={plan}>
          {(found) => (
            <ul class="effects">
              {found.tables.filter(({ rows }) => rows > 0).map(({ table, rows }) => <li key={table}>{showCount(rows, "row")} of {showCode(table)} go for good.</li>)}
              {found.copies.length > 0 && <li>{showCount(found.copies.length, "copy", "copies")} in pools or of other users may keep the text: {found.copies.slice(0, 3).join(", ")}</li>}
              <li>A proof stays. This cannot be undone.</li>
            </ul>
          )}
        </Shown>
        <label class="field tall">Type the name to erase it<input autoComplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} /></label>
        {problem !== null && <Problem text={problem} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class="danger main" disabled={typed !== name || isBusy || plan.value === undefined}>Erase</button>
        </div>
      </form>
    </Dialog>
  );
}

function countRows({ tables }: UserErasure): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

type KeyAct = { kind: "create" } | { kind: "rotate" | "revoke"; key: AccessKey };

function Keys(): VNode {
  const { client } = useSession();
  const keys = useLoaded((signal) => client.keys.list({}, { signal }), [client]);
  const [act, setAct] = useState<KeyAct | null>(null);
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const [shown, setShown] = useState(KEYS);
  const finish = (made: CreatedKey | null): void => {
    setAct(null);
    setCreated(made);
    keys.reload();
  };
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Access keys</h2>
      <Shown of={keys}>
        {(list) => list.length === 0 ? <p class="quiet">There is no key: this memory is open to whoever may reach it.</p> : (
          <table class="wide">
            <thead><tr><th scope="col">Key</th><th scope="col">Role</th><th scope="col">Speaks for</th><th scope="col">Used</th><th scope="col">State</th><th scope="col"><span class="hidden">Acts</span></th></tr></thead>
            <tbody>{list.slice(0, shown).map((key) => <KeyRow key={key.id} of={key} act={setAct} />)}</tbody>
          </table>
        )}
      </Shown>
      <div class="line">
        {(keys.value?.length ?? 0) > shown && <button type="button" class="more" onClick={() => setShown(shown + KEYS)}>Show more</button>}
        <button type="button" class="more" onClick={() => setAct({ kind: "create" })}>Create a key</button>
      </div>
      {act?.kind === "create" && <CreateKey close={() => setAct(null)} finish={finish} />}
      {act !== null && act.kind !== "create" && <ChangeKey act={act.kind} of={act.key} close={() => setAct(null)} finish={finish} />}
      {created !== null && <Secret created={created} close={() => setCreated(null)} />}
    </section>
  );
}

function stateOfKey(key: AccessKey): string {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at === null) return "open";
  return Date.parse(key.expires_at) <= Date.now() ? "expired" : `until ${showDay(key.expires_at)}`;
}

function KeyRow({ of: key, act }: { of: AccessKey; act: (act: KeyAct) => void }): VNode {
  const state = stateOfKey(key);
  const isOpen = state !== "revoked" && state !== "expired";
  const name = key.name ?? key.id;
  return (
    <tr>
      <th scope="row"><bdi>{name}</bdi>{key.name !== null && <span class="quiet"> {key.id}</span>}</th>
      <td>{key.role}</td>
      <td><bdi>{[key.agent, key.user_id].filter((part) => part !== null).join(", ") || "all"}</bdi></td>
      <td>{key.last_used_at === null ? "never" : showTime(key.last_used_at)}</td>
      <td><Badge text={state} tone={isOpen ? "" : "gone"} /></td>
      <td class="acts">
        {isOpen && <button type="button" aria-label={`Rotate ${name}`} onClick={() => act({ kind: "rotate", key })}>Rotate</button>}
        {isOpen && <button type="button" class="danger" aria-label={`Revoke ${name}`} onClick={() => act({ kind: "revoke", key })}>Revoke</button>}
      </td>
    </tr>
  );
}

interface KeyDialogProps {
  close: () => void;
  finish: (created: CreatedKey | null) => void;
}

function CreateKey({ close, finish }: KeyDialogProps): VNode {
  const { client } = useSession();
  const [role, setRole] = useState<Role>("writer");
  const [values, setValues] = useState<Record<"name" | "agent" | "user" | "expires_at", string>>({ name: "", agent: "", user: "", expires_at: "" });
  const { problem, isBusy, run } = useAct();
  const submit = (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim() || null]));
    return run(async () => finish(await client.keys.create({ role, ...given })));
  };
  const text = (name: keyof typeof values, label: string, hint: string): VNode => (
    <label class="field">{label}<input value={values[name]} placeholder={hint} autoComplete="off" onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })} /></label>
  );
  return (
    <Dialog title="Create a key" close={close}>
      <form onSubmit={submit}>
        <div class="fields">
          {text("name", "Purpose", "chat bot")}
          <label class="field">Role
            <select value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>{ROLES.map((name) => <option key={name} value={name}>{name}</option>)}</select>
          </label>
          {text("agent", "Only this agent", "all")}
          {text("user", "Only this user", "any")}
          {text("expires_at", "Opens until", "for ever")}
        </div>
        {problem !== null && <Problem text={problem} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class="main" disabled={isBusy}>Create</button>
        </div>
      </form>
    </Dialog>
  );
}

const KEY_EFFECTS = {
  rotate: ["A new key of the same rights is made; its secret is shown once.", "The old one opens beside it for the days below, so that clients change over."],
  revoke: ["It opens nothing from now on, in any process.", "This cannot be undone; a new key can be made."],
};

function ChangeKey({ act, of: key, close, finish }: { act: "rotate" | "revoke"; of: AccessKey } & KeyDialogProps): VNode {
  const { client } = useSession();
  const [days, setDays] = useState("7");
  const { problem, isBusy, run } = useAct();
  const submit = (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    return run(async () => {
      if (act === "rotate") return finish(await client.keys.rotate({ key_id: key.id, overlap_days: Number(days) }));
      await client.keys.revoke({ key_id: key.id });
      finish(null);
    });
  };
  const label = act === "rotate" ? "Rotate" : "Revoke";
  return (
    <Dialog title={`${label} the key ${key.name ?? key.id}?`} close={close}>
      <form onSubmit={submit}>
        <h3>What will happen</h3>
        <ul class="effects">{KEY_EFFECTS[act].map((effect) => <li key={effect}>{effect}</li>)}</ul>
        {act === "rotate" && <label class="field narrow">Days<input type="number" min={0} step="any" required value={days} onInput={(event) => setDays(event.currentTarget.value)} /></label>}
        {problem !== null && <Problem text={problem} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class={act === "revoke" ? "danger main" : "main"} disabled={isBusy}>{label}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Secret({ created, close }: { created: CreatedKey; close: () => void }): VNode {
  return (
    <Dialog title="The key, once" close={close}>
      <p>Store it now: nobody can read it again.</p>
      <label class="field">Secret<input readOnly value={created.secret} onFocus={(event) => event.currentTarget.select()} /></label>
      <div class="buttons"><button type="button" class="main" onClick={close}>Done</button></div>
    </Dialog>
  );
}

function Jobs(): VNode {
  const { client } = useSession();
  const [name, setName] = useState<(typeof JOB_NAMES)[number] | "">("");
  const [status, setStatus] = useState<(typeof STATUSES)[number] | "">("");
  const [limit, setLimit] = useState(JOBS);
  const jobs = useLoaded((signal) => client.jobs.list({ name: name || null, status: status || null, limit }, { signal }), [client, name, status, limit]);
  const { problem, isBusy, run } = useAct();
  const change = (act: () => Promise<Job>): Promise<void> => run(async () => {
    await act();
    jobs.reload();
  });
  const choice = (label: string, value: string, values: readonly string[], choose: (value: string) => void): VNode => (
    <label class="field">{label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">any</option>
        {values.map((known) => <option key={known} value={known}>{showCode(known)}</option>)}
      </select>
    </label>
  );
  return (
    <section aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      <div class="fields">
        {choice("Job", name, JOB_NAMES, (value) => setName(value as typeof name))}
        {choice("Status", status, STATUSES, (value) => setStatus(value as typeof status))}
        <button type="button" class="run-job" disabled={name === "" || isBusy} onClick={() => name !== "" && void change(() => client.jobs.run({ name }))}>{name === "" ? "Run the chosen job" : `Run ${name} now`}</button>
      </div>
      {isBusy && <p class="quiet" role="status">Running …</p>}
      {problem !== null && <Problem text={problem} />}
      <Shown of={jobs}>
        {(list) => list.length === 0 ? <p class="quiet">No job was queued or run.</p> : (
          <>
            <ul class="list">{list.map((job) => <li key={job.id}><JobRow job={job}>{job.status === "dead_letter" && <button type="button" class="end" onClick={() => void change(() => client.jobs.retry({ job_id: job.id }))}>Retry</button>}</JobRow></li>)}</ul>
            {list.length === limit && <button type="button" class="more" onClick={() => setLimit(limit + JOBS)}>Show more</button>}
          </>
        )}
      </Shown>
    </section>
  );
}

function JobRow({ job, children }: { job: Job; children: ComponentChildren }): VNode {
  const counts = Object.entries(job.report).filter(([, value]) => typeof value === "number" || typeof value === "string");
  return (
    <article>
      <div class="line">
        <strong>{showCode(job.name)}</strong><Badge text={showCode(job.status)} tone={job.status === "dead_letter" ? "warn" : ""} />
        <span class="quiet">{showTime(job.finished_at ?? job.run_at)} · {showCount(job.attempts, "attempt")}{job.tenant_id !== "" && <> · <bdi>{job.tenant_id}</bdi></>}</span>
        {children}
      </div>
      {counts.length > 0 && <p class="quiet">{counts.map(([name, value]) => `${showCode(name)} ${String(value)}`).join(" · ")}</p>}
      {job.last_error !== null && <p class="warning">{job.last_error}</p>}
    </article>
  );
}
