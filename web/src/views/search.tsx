/** Search as one types: hits with the contributions to their scores, rankings side by side, and what was left out. */

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Answer, DroppedCandidate, Hit, RecallArguments } from "engrain";
import { useLoaded, usePages } from "../loading";
import { Contributions, Legend, MemoryLine, More, Problem, ScoreBar, Shown } from "../parts";
import { replaceArgs } from "../router";
import type { Place } from "../router";
import { useSession } from "../session";
import { endOfDay, showCode, showCount, showNumber } from "../texts";

const TYPING_MS = 180;
/** How many of those that were left out are read at a time. */
const DROPPED = 10;
/** The rankings that ship; others of the settings can be typed. */
const PRESETS = ["engrain", "semantic", "keyword", "hybrid", "recall", "assistant", "weighted", "notes", "recency", "importance"];
const FILTERS = ["kind", "speaker", "session", "subject", "tag", "since", "until", "as_of", "trust"] as const;
type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

interface Question extends Filters {
  q: string;
  preset: string;
  beside: string;
  inactive: string;
}

function readQuestion(args: URLSearchParams): Question {
  const question: Question = { q: args.get("q") ?? "", preset: args.get("preset") ?? "", beside: args.get("beside") ?? "", inactive: args.get("inactive") ?? "" };
  for (const name of FILTERS) {
    const value = args.get(name);
    if (value) question[name] = value;
  }
  return question;
}

function recallArguments(question: Question, preset: string): RecallArguments {
  const list = (value: string | undefined): string[] | null => (value ? [value] : null);
  return {
    query: question.q,
    limit: 20,
    explain: true,
    count_references: false, // a look is no use: only what is opened counts
    include_inactive: question.inactive === "1",
    preset: preset || null,
    kinds: question.kind ? [question.kind as "episode" | "fact" | "rule"] : null,
    speakers: list(question.speaker),
    sessions: list(question.session),
    subjects: list(question.subject),
    tags: list(question.tag),
    since: question.since || null,
    until: question.until || null,
    as_of: question.as_of ? endOfDay(question.as_of) : null,
    min_trust: (question.trust as "tool" | "assistant" | "import" | "user" | undefined) ?? null,
  };
}

export function SearchView({ place }: { place: Place }): VNode {
  const [question, setQuestion] = useState(() => readQuestion(place.args));
  const change = (part: Partial<Question>): void => {
    const next = { ...question, ...part };
    setQuestion(next);
    replaceArgs({ ...next });
  };
  const [showsFilters, setShowsFilters] = useState(() => FILTERS.some((name) => question[name]) || question.inactive !== "");
  const used = FILTERS.filter((name) => question[name]).length + (question.inactive ? 1 : 0);
  return (
    <section aria-labelledby="search-title">
      <h1 id="search-title" class="hidden">Search</h1>
      <div class="searchbar" role="search">
        <label for="query" class="hidden">Search the memory</label>
        <input id="query" type="search" class="query" placeholder="Ask or search in any words" autoFocus value={question.q} onInput={(event) => change({ q: event.currentTarget.value })} />
        <PresetChoice label="Ranking" value={question.preset} choose={(preset) => change({ preset })} />
        <PresetChoice label="Beside" value={question.beside} choose={(beside) => change({ beside })} />
      </div>
      <details class="filters" open={showsFilters} onToggle={(event) => setShowsFilters(event.currentTarget.open)}>
        <summary>Filters{used > 0 && ` (${used})`}</summary>
        <FilterForm question={question} change={change} />
      </details>
      {question.q.trim() === "" ? <Newest /> : (
        <div class={question.beside ? "columns" : ""}>
          <Results question={question} preset={question.preset} />
          {question.beside && <Results question={question} preset={question.beside} />}
        </div>
      )}
    </section>
  );
}

function PresetChoice({ label, value, choose }: { label: string; value: string; choose: (preset: string) => void }): VNode {
  const known = value === "" || PRESETS.includes(value) ? PRESETS : [...PRESETS, value];
  return (
    <label class="field">{label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{label === "Beside" ? "nothing" : "as set"}</option>
        {known.map((preset) => <option key={preset} value={preset}>{preset}</option>)}
      </select>
    </label>
  );
}

function FilterForm({ question, change }: { question: Question; change: (part: Partial<Question>) => void }): VNode {
  const text = (name: (typeof FILTERS)[number], label: string, hint = ""): VNode => (
    <label class="field">{label}
      <input value={question[name] ?? ""} placeholder={hint} onChange={(event) => change({ [name]: event.currentTarget.value.trim() })} />
    </label>
  );
  const choice = (name: "kind" | "trust", label: string, values: string[]): VNode => (
    <label class="field">{label}
      <select value={question[name] ?? ""} onChange={(event) => change({ [name]: event.currentTarget.value })}>
        <option value="">any</option>
        {values.map((value) => <option key={value} value={value}>{value}</option>)}
      </select>
    </label>
  );
  return (
    <div class="fields">
      {choice("kind", "Kind", ["episode", "fact", "rule"])}
      {text("speaker", "Speaker")}
      {text("session", "Session")}
      {text("subject", "Subject")}
      {text("tag", "Tag")}
      {text("since", "Since", "last month")}
      {text("until", "Until", "yesterday")}
      {text("as_of", "As believed on", "2026-05-01")}
      {choice("trust", "Least trust", ["tool", "assistant", "import", "user"])}
      <label class="check"><input type="checkbox" checked={question.inactive === "1"} onChange={(event) => change({ inactive: event.currentTarget.checked ? "1" : "" })} />Also what no longer holds</label>
    </div>
  );
}

/** What the memory got last, where nothing is asked. */
function Newest(): VNode {
  const { client } = useSession();
  const newest = usePages((after) => client.list({ limit: 25, ...after }), [client]);
  return (
    <>
      <h2>Newest memories</h2>
      <Shown of={newest}>
        {(memories) => memories.length === 0 ? <p>Nothing is remembered yet. <code>engrain import FILE</code> brings conversations in.</p> : (
          <ul class="list">{memories.map((memory) => <li key={memory.id}><MemoryLine memory={memory} /></li>)}</ul>
        )}
      </Shown>
      <More of={newest} />
    </>
  );
}

function Results({ question, preset }: { question: Question; preset: string }): VNode {
  const { client } = useSession();
  const args = recallArguments(question, preset);
  const answer = useLoaded((signal) => client.recall(args, { signal }), [client, JSON.stringify(args)], { delayMs: TYPING_MS });
  return (
    <div class={answer.isLoading ? "results late" : "results"} aria-busy={answer.isLoading}>
      {answer.error !== undefined && <Problem text={answer.error} />}
      {answer.value !== undefined && <Hits answer={answer.value} />}
    </div>
  );
}

function Hits({ answer }: { answer: Answer }): VNode {
  const channels = useMemo(() => [...new Set(answer.hits.flatMap((hit) => hit.why.contributions.filter((part) => part.value !== 0).map((part) => part.channel)))], [answer]);
  const scale = Math.max(...answer.hits.map((hit) => hit.why.contributions.reduce((sum, part) => sum + Math.abs(part.value), 0)), 1e-9);
  return (
    <>
      <p class="summary" role="status">
        <strong>{answer.preset}</strong> {showCount(answer.hits.length, "hit")} of {showCount(answer.candidates, "candidate")}
        {answer.evidence !== null && <> · evidence <strong>{answer.evidence}</strong>{answer.evidence_score !== null && ` (${showNumber(answer.evidence_score, 2)})`}</>}
        {Object.entries(answer.times).map(([words, time]) => <> · {words}: {time.slice(0, 10)}</>)}
      </p>
      {answer.degraded.map((part) => <p key={part.code} class="warning">{part.message}</p>)}
      <Legend channels={channels} />
      <ol class="list hits">{answer.hits.map((hit) => <li key={hit.memory.id}><HitRow hit={hit} scale={scale} /></li>)}</ol>
      <LeftOut dropped={answer.dropped} scale={scale} />
    </>
  );
}

function HitRow({ hit, scale }: { hit: Hit; scale: number }): VNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <MemoryLine memory={hit.memory}>
      <button type="button" class="why" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}><ScoreBar score={hit.score} why={hit.why} scale={scale} /></button>
      {isOpen && (
        <div class="reasons">
          <Contributions score={hit.score} why={hit.why} />
          {hit.why.matched_terms.length > 0 && <p class="quiet">Words in common: {hit.why.matched_terms.join(", ")}</p>}
          {hit.repeats !== null && <p class="quiet">Stands for {hit.repeats.count} near-identical turns, {hit.repeats.first_at.slice(0, 10)} to {hit.repeats.last_at.slice(0, 10)}</p>}
        </div>
      )}
    </MemoryLine>
  );
}

/** Candidates that are no hits, by the reason; their texts are read when somebody looks, some at a time. */
function LeftOut({ dropped, scale }: { dropped: DroppedCandidate[]; scale: number }): VNode | null {
  const [isOpen, setIsOpen] = useState(false);
  if (dropped.length === 0) return null;
  const reasons = Map.groupBy(dropped, (candidate) => candidate.reason);
  return (
    <details class="dropped" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{showCount(dropped.length, "other")} left out: {[...reasons].map(([reason, group]) => `${showCode(reason)} (${group.length})`).join(", ")}</summary>
      {isOpen && <Dropped dropped={dropped} scale={scale} />}
    </details>
  );
}

function Dropped({ dropped, scale }: { dropped: DroppedCandidate[]; scale: number }): VNode {
  const { client } = useSession();
  const pages = usePages(
    async ({ after = "0" }, signal) => {
      const until = Number(after) + DROPPED;
      const items = await Promise.all(dropped.slice(Number(after), until).map(async (candidate) => ({ candidate, memory: candidate.id === null ? null : await client.get({ id: candidate.id, count_references: false }, { signal }) })));
      return { items, next: until < dropped.length ? String(until) : null };
    },
    [client, dropped],
  );
  return (
    <>
      <Shown of={pages}>
        {(list) => (
          <ul class="list hits">
            {list.map(({ candidate, memory }, place) => (
              <li key={place}>
                {memory === null ? <p class="quiet">It is gone: {showCode(candidate.reason)}</p> : (
                  <MemoryLine memory={memory}>
                    <div class="why"><ScoreBar score={candidate.score} why={candidate.why} scale={scale} /></div>
                    <p class="relation reason">Left out: {showCode(candidate.reason)}</p>
                  </MemoryLine>
                )}
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <More of={pages} />
    </>
  );
}
