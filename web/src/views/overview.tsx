/** Overview: how much there is, what came by day, what is used and what waits. */

import type { VNode } from "preact";
import type { Day, Overview, Stats } from "engrain";
import { useLoaded } from "../loading";
import { MemoryLine, Shown } from "../parts";
import { useSession } from "../session";
import { showCode, showCount, showDay, showTime } from "../texts";

const DAYS = 30;
const KINDS = ["episodes", "facts", "rules"] as const;

export function OverviewView(): VNode {
  const { client } = useSession();
  const overview = useLoaded((signal) => client.overview({ days: DAYS, limit: 5 }, { signal }), [client]);
  return (
    <section class="one" aria-labelledby="overview-title">
      <h1 id="overview-title">Overview</h1>
      <Shown of={overview}>{(found) => <Found overview={found} />}</Shown>
    </section>
  );
}

function Found({ overview }: { overview: Overview }): VNode {
  return (
    <>
      <Counts stats={overview.stats} />
      <Days days={overview.days} />
      <div class="columns">
        <section aria-labelledby="used"><h2 id="used">Used most</h2>
          <ul class="list">{overview.most_referenced.map((memory) => <li key={memory.id}><MemoryLine memory={memory} /></li>)}</ul>
          {overview.most_referenced.length === 0 && <p class="quiet">Nothing was found by a question yet.</p>}
        </section>
        <section aria-labelledby="told"><h2 id="told">Newest facts</h2>
          <ul class="list">{overview.newest_facts.map((memory) => <li key={memory.id}><MemoryLine memory={memory} /></li>)}</ul>
          {overview.newest_facts.length === 0 && <p class="quiet">No fact is stored yet.</p>}
        </section>
      </div>
      <div class="columns">
        <section aria-labelledby="spoken"><h2 id="spoken">Spoken of most</h2>
          <ul class="list">{overview.entities.map(({ entity, facts }) => <li key={entity.id} class="line"><bdi>{entity.canonical_name}</bdi><span class="quiet">{showCode(entity.entity_type)} · {showCount(facts, "fact")}</span></li>)}</ul>
          {overview.entities.length === 0 && <p class="quiet">No name was told yet.</p>}
        </section>
        <section aria-labelledby="runs"><h2 id="runs">Runs, and what waits</h2>
          <ul class="list">
            {overview.runs.map((run) => <li key={run.id} class="line"><span>{run.kind}: {run.status}</span><span class="quiet">{showTime(run.started_at)}{run.error !== null && ` · ${run.error}`}</span></li>)}
            {overview.waiting_sessions.map((waiting) => <li key={waiting.session} class="line"><bdi>{waiting.session || "no session"}</bdi><span class="quiet">{showCount(waiting.episodes, "episode")} since {showDay(waiting.first_seen_at)} to learn from</span></li>)}
          </ul>
          {overview.runs.length + overview.waiting_sessions.length === 0 && <p class="quiet">Nothing ran, and nothing waits.</p>}
        </section>
      </div>
    </>
  );
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

/** What was stored on each of the last days, as stacked bars, and as a table for whoever does not see them. */
function Days({ days }: { days: Day[] }): VNode {
  const most = Math.max(...days.map((day) => KINDS.reduce((sum, kind) => sum + day[kind], 0)), 1);
  return (
    <section aria-labelledby="days">
      <h2 id="days">Stored in the last {DAYS} days</h2>
      <ul class="legend" aria-label="Kinds">{KINDS.map((kind) => <li key={kind}><i class="swatch" style={{ background: `var(--${kind.slice(0, -1)})` }} />{kind}</li>)}</ul>
      <div class="days" aria-hidden="true">
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
