/** Overview: how much there is and how it grew, how sure it is, what is used, what waits, and what is wrong. */

import type { ComponentChildren, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Day, Engrain, Fact, Job, Overview, Stats } from "engrain";
import { useDrawing } from "../colours";
import { useLoaded } from "../loading";
import { MemoryLine, Shown } from "../parts";
import { address } from "../router";
import { useSession } from "../session";
import { showCode, showCount, showDay, showNumber, showTime } from "../texts";

const PERIODS = [30, 90, 365];
const KINDS = ["episodes", "facts", "rules"] as const;
const SAMPLE = 200;
const STEPS = 5;

export function OverviewView(): VNode {
  const { client, may, isUnbound } = useSession();
  const [days, setDays] = useState(PERIODS[0]!);
  const overview = useLoaded((signal) => client.overview({ days, limit: 5 }, { signal }), [client, days]);
  const letters = useLoaded(async (signal) => (may("admin") && isUnbound ? client.jobs.list({ status: "dead_letter", limit: 20 }, { signal }) : []), [client]);
  return (
    <section class="one" aria-labelledby="overview-title">
      <h1 id="overview-title">Overview</h1>
      <Shown of={overview}>
        {(found) => (
          <>
            <Counts stats={found.stats} />
            <Health overview={found} letters={letters.value ?? []} />
            <label class="field narrow">Days
              <select value={String(days)} onChange={(event) => setDays(Number(event.currentTarget.value))}>{PERIODS.map((period) => <option key={period} value={String(period)}>{period}</option>)}</select>
            </label>
            <Days days={found.days} />
            <Growth days={found.days} />
            <div class="columns"><States stats={found.stats} /><Confidence client={client} /></div>
            <Lists overview={found} />
          </>
        )}
      </Shown>
    </section>
  );
}

function Lists({ overview }: { overview: Overview }): VNode {
  return (
    <>
      <div class="columns">
        <Part id="used" title="Used most" empty={overview.most_referenced.length === 0 && "Nothing was found by a question yet."}>
          {overview.most_referenced.map((memory) => <li key={memory.id}><MemoryLine memory={memory} /></li>)}
        </Part>
        <Part id="told" title="Newest facts" empty={overview.newest_facts.length === 0 && "No fact is stored yet."}>
          {overview.newest_facts.map((memory) => <li key={memory.id}><MemoryLine memory={memory} /></li>)}
        </Part>
      </div>
      <div class="columns">
        <Part id="spoken" title="Spoken of most" empty={overview.entities.length === 0 && "No name was told yet."}>
          {overview.entities.map(({ entity, facts }) => <li key={entity.id} class="line"><a href={address("entities", entity.id)}><bdi>{entity.canonical_name}</bdi></a><span class="quiet">{showCode(entity.entity_type)} · {showCount(facts, "fact")}</span></li>)}
        </Part>
        <Part id="runs" title="Runs, and what waits" empty={overview.runs.length + overview.waiting_sessions.length === 0 && "Nothing ran, and nothing waits."}>
          {overview.runs.map((run) => <li key={run.id} class="line"><a href={address("learning")}>{run.kind}: {run.status}</a><span class="quiet">{showTime(run.started_at)}{run.error !== null && ` · ${run.error}`}</span></li>)}
          {overview.waiting_sessions.map((waiting) => <li key={waiting.session} class="line"><bdi>{waiting.session || "no session"}</bdi><span class="quiet">{showCount(waiting.episodes, "episode")} since {showDay(waiting.first_seen_at)} to learn from</span></li>)}
        </Part>
      </div>
    </>
  );
}

interface PartProps {
  id: string;
  title: string;
  empty: string | false;
  children: ComponentChildren;
}

function Part({ id, title, empty, children }: PartProps): VNode {
  return <section aria-labelledby={id}><h2 id={id}>{title}</h2><ul class="list">{children}</ul>{empty !== false && <p class="quiet">{empty}</p>}</section>;
}

function Counts({ stats }: { stats: Stats }): VNode {
  const { episodes, facts, rules } = stats;
  const rows: [string, number, string][] = [
    ["Episodes", episodes.total, `${showCount(episodes.sessions, "session")}, ${showCount(episodes.speakers, "speaker")}, ${showDay(episodes.first_event_at)} to ${showDay(episodes.last_event_at)}`],
    ["Facts", facts.active, `${facts.fading} fading, ${facts.superseded} superseded, ${facts.expired + facts.retracted} gone`],
    ["Rules", rules.candidate + rules.established + rules.proven, `${rules.proven} proven, ${rules.established} established, ${rules.anti_pattern} harmful`],
    ["Waiting", stats.pending_embeddings, `for a vector; ${showCount(episodes.unconsolidated, "episode")} to learn from`],
  ];
  return (
    <dl class="properties counts">
      {rows.map(([name, count, more]) => <div key={name}><dt>{name}</dt><dd><strong>{count.toLocaleString("en")}</strong><span class="quiet">{more}</span></dd></div>)}
    </dl>
  );
}

/** What somebody should look after, as far as this key is told of it. */
function findTroubles({ runs, stats }: Overview, letters: Job[]): string[] {
  const troubles = [];
  const failed = runs.filter((run) => run.status === "failed" || run.status === "abandoned");
  if (failed.length > 0) troubles.push(`${failed.length} of the last ${showCount(runs.length, "run")} failed: ${failed[0]!.error ?? "abandoned"}`);
  if (stats.episodes.given_up > 0) troubles.push(`${showCount(stats.episodes.given_up, "episode")} given up: they are learned from no more`);
  if (letters.length > 0) troubles.push(`${showCount(letters.length, "job")} given up, the last ${letters[0]!.name}: ${letters[0]!.last_error ?? "no reason is known"}`);
  return troubles;
}

function Health({ overview, letters }: { overview: Overview; letters: Job[] }): VNode {
  const troubles = findTroubles(overview, letters);
  const { backlog_age_hours: hours } = overview.stats.episodes;
  return (
    <section aria-labelledby="health"><h2 id="health">Health</h2>
      {troubles.map((trouble) => <p key={trouble} class="warning">{trouble}</p>)}
      <p class="quiet">{troubles.length === 0 && "No run failed, and nothing was given up. "}{hours !== null && `The oldest episode to learn from has waited ${hours < 1 ? "less than an hour" : hours < 48 ? showCount(Math.round(hours), "hour") : showCount(Math.round(hours / 24), "day")}.`}</p>
    </section>
  );
}

/** What was stored on each of the last days, as stacked bars, and as a table for whoever does not see them. */
function Days({ days }: { days: Day[] }): VNode {
  const most = Math.max(...days.map((day) => KINDS.reduce((sum, kind) => sum + day[kind], 0)), 1);
  return (
    <section aria-labelledby="days">
      <h2 id="days">Stored in the last {days.length} days</h2>
      <ul class="legend" aria-label="Kinds">{KINDS.map((kind) => <li key={kind}><i class="swatch" style={{ background: `var(--${kind.slice(0, -1)})` }} />{kind}</li>)}</ul>
      <div class={days.length > 100 ? "days dense" : "days"} aria-hidden="true">
        {days.map((day) => (
          <div key={day.day} title={`${day.day}: ${KINDS.map((kind) => `${day[kind]} ${kind}`).join(", ")}`}>
            {KINDS.map((kind) => <span key={kind} style={{ height: `${(day[kind] / most) * 100}%`, background: `var(--${kind.slice(0, -1)})` }} />)}
          </div>
        ))}
      </div>
      <p class="ends quiet"><span>{days[0]?.day}</span><span>{showCount(most, "memory", "memories")} at most a day</span><span>{days.at(-1)?.day}</span></p>
      <details><summary class="quiet">As a table</summary>
        <table class="numbers">
          <thead><tr><th scope="col">Day</th>{KINDS.map((kind) => <th key={kind} scope="col">{kind}</th>)}</tr></thead>
          <tbody>{days.filter((day) => KINDS.some((kind) => day[kind] > 0)).map((day) => <tr key={day.day}><th scope="row">{day.day}</th>{KINDS.map((kind) => <td key={kind}>{day[kind]}</td>)}</tr>)}</tbody>
        </table>
      </details>
    </section>
  );
}

/** How many memories of each kind were added since the first of the days. */
function Growth({ days }: { days: Day[] }): VNode {
  const place = useRef<HTMLDivElement>(null);
  const series = KINDS.map((kind) => {
    let sum = 0;
    return { label: kind, colour: `--${kind.slice(0, -1)}`, values: days.map((day) => (sum += day[kind])) };
  });
  useDrawing(place, async (element) => (await import("../plot")).drawPlot(element, days.map((day) => day.day), series), [days]);
  const said = series.map(({ label, values }) => showCount(values.at(-1) ?? 0, label.slice(0, -1))).join(", ");
  return (
    <section aria-labelledby="growth">
      <h2 id="growth">Growth</h2>
      <p class="quiet">Added since {days[0]?.day}: {said}</p>
      <div ref={place} class="plot" role="img" aria-label={`Memories added, day by day: ${said}`} />
    </section>
  );
}

/** Facts and rules by their state, as shares of a bar. */
function States({ stats }: { stats: Stats }): VNode {
  return (
    <section aria-labelledby="states"><h2 id="states">State</h2>
      <Shares name="Facts" counts={{ ...stats.facts }} />
      <Shares name="Rules" counts={{ ...stats.rules }} />
    </section>
  );
}

function Shares({ name, counts }: { name: string; counts: Record<string, number> }): VNode {
  const shares = Object.entries(counts);
  const total = Math.max(shares.reduce((sum, [, count]) => sum + count, 0), 1);
  const said = shares.map(([state, count]) => `${count.toLocaleString("en")} ${showCode(state)}`);
  return (
    <>
      <h3>{name}</h3>
      <div class="bar filled" role="img" aria-label={`${name}: ${said.join(", ")}`}>{shares.map(([state, count], place) => <span key={state} style={{ width: `${(count / total) * 100}%`, background: `var(--c${place})` }} />)}</div>
      <ul class="legend" aria-hidden="true">{said.map((words, place) => <li key={words}><i class="swatch" style={{ background: `var(--c${place})` }} />{words}</li>)}</ul>
    </>
  );
}

/** How sure the newest facts are; all of them would be too many to ask for. */
function Confidence({ client }: { client: Engrain }): VNode {
  const facts = useLoaded(async (signal) => (await client.facts({ limit: SAMPLE }, { signal })).items, [client]);
  return (
    <section aria-labelledby="confidence"><h2 id="confidence">Confidence</h2>
      <Shown of={facts}>{(list) => <Histogram facts={list} />}</Shown>
    </section>
  );
}

function Histogram({ facts }: { facts: Fact[] }): VNode {
  const counts = Array.from({ length: STEPS }, (_, step) => facts.filter((fact) => Math.min(Math.floor(fact.confidence * STEPS), STEPS - 1) === step).length);
  const most = Math.max(...counts, 1);
  return (
    <>
      <p class="quiet">Of the newest {showCount(facts.length, "fact")}</p>
      <ul class="histogram">
        {counts.map((count, step) => <li key={step}><span>{showNumber(step / STEPS, 1)} to {showNumber((step + 1) / STEPS, 1)}</span><i style={{ width: `${(count / most) * 100}%` }} /><span class="number">{count}</span></li>)}
      </ul>
    </>
  );
}
