/** One memory: its versions, where it comes from, its links and events, and what can be done with it. */

import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { Engrain, Event, Link, Memory } from "engrain";
import { Actions } from "./actions";
import { useLoaded, usePages } from "../loading";
import { About, Badge, KindBadge, MemoryLine, More, Quote, Shown, StateBadge } from "../parts";
import { address } from "../router";
import type { Place } from "../router";
import { useSession } from "../session";
import { isLive, showCode, showNumber, showTime } from "../texts";

const MOST_SOURCES = 20;

export function MemoryView({ place }: { place: Place }): VNode {
  const { client } = useSession();
  const id = place.id ?? "";
  const memory = useLoaded((signal) => client.get({ id }, { signal }), [client, id]);
  const [turn, setTurn] = useState(0);
  const reload = (): void => {
    memory.reload();
    setTurn(turn + 1);
  };
  return <Shown of={memory}>{(found) => found === null ? <Missing id={id} /> : <Details memory={found} turn={turn} reload={reload} />}</Shown>;
}

/** A memory that is not there: erased, of somebody else, or never there; the events may tell. */
function Missing({ id }: { id: string }): VNode {
  return (
    <article>
      <h1>No memory to see</h1>
      <p>There is none of the id <code>{id}</code> that this agent sees: it was erased, or it is another's.</p>
      <Events id={id} turn={0} />
    </article>
  );
}

function Details({ memory, turn, reload }: { memory: Memory; turn: number; reload: () => void }): VNode {
  return (
    <article class={isLive(memory) ? "one" : "one gone"}>
      <header class="title">
        <p class="line"><KindBadge memory={memory} />{memory.kind === "fact" && <span class="slot"><bdi>{memory.subject}</bdi> · <bdi>{showCode(memory.predicate)}</bdi></span>}<StateBadge memory={memory} /></p>
        <h1 dir="auto" class="said">{memory.content}</h1>
        <About memory={memory} />
      </header>
      <Actions key={memory.id} memory={memory} changed={reload} />
      <Properties memory={memory} />
      <History memory={memory} turn={turn} />
      <Sources memory={memory} turn={turn} />
      <Events id={memory.id} turn={turn} />
    </article>
  );
}

function Properties({ memory }: { memory: Memory }): VNode {
  const rows: [string, ComponentChildren][] = [];
  const add = (name: string, value: ComponentChildren): void => {
    if (value !== null && value !== undefined && value !== "") rows.push([name, value]);
  };
  if (memory.kind === "episode") {
    add("Session", memory.session !== null && <a href={address("search", undefined, { q: memory.session, session: memory.session })}>{memory.session}</a>);
    add("Turn", memory.turn);
    add("Happened", showTime(memory.event_time));
    add("Learning", showCode(memory.consolidation_status));
    add("Problem of learning", memory.last_consolidation_error);
    add("Expires", memory.expires_at && showTime(memory.expires_at));
  } else {
    add("Confidence", showNumber(memory.confidence, 2));
    add("Permanence", memory.permanence);
    add("Confirmed", showTime(memory.last_confirmed_at));
  }
  if (memory.kind === "fact") {
    add("True", `${memory.valid_from ? showTime(memory.valid_from) : "always"} to ${memory.valid_to ? showTime(memory.valid_to) : "now"}`);
    add("Category", memory.category);
    add("Source", memory.source);
    add("Entity", memory.entity_id !== null && <a href={address("entities", memory.entity_id)}>{memory.subject}</a>);
  }
  if (memory.kind === "rule") {
    add("Helped", `${memory.success_count} of ${memory.applied_count} times`);
    add("Harmed", memory.harmful_count);
  } else {
    add("Importance", showNumber(memory.importance, 1));
  }
  add("Trust", memory.trust);
  add("Scope", memory.scope);
  add("Stored", showTime(memory.created_at));
  add("Recalled", `${memory.reference_count}×`);
  add("Tags", memory.tags.join(", "));
  add("Id", <code>{memory.id}</code>);
  return (
    <section aria-label="Properties">
      <dl class="properties">{rows.filter(([, value]) => value !== false).map(([name, value]) => <div key={name}><dt>{name}</dt><dd dir="auto">{value}</dd></div>)}</dl>
      {Object.keys(memory.metadata).length > 0 && <details><summary>Metadata</summary><pre>{JSON.stringify(memory.metadata, null, 2)}</pre></details>}
    </section>
  );
}

function History({ memory, turn }: { memory: Memory; turn: number }): VNode | null {
  const { client } = useSession();
  const versions = useLoaded((signal) => client.history({ id: memory.id }, { signal }), [client, memory.id, turn]);
  if (memory.kind === "episode" || versions.value?.length === 1) return null;
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <Shown of={versions}>
        {(list) => (
          <ol class="list timeline">
            {list.map((version) => (
              <li key={version.id} aria-current={version.id === memory.id ? "true" : undefined}><MemoryLine memory={version} /></li>
            ))}
          </ol>
        )}
      </Shown>
    </section>
  );
}

interface Related {
  link: Link | null;
  memory: Memory | null;
  id: string;
}

/** The memories on the other ends of the links, and the episode that a memory was learned from. */
async function loadRelated(client: Engrain, memory: Memory, signal: AbortSignal): Promise<{ sources: Related[]; others: Related[]; rest: number }> {
  const links = await client.links({ id: memory.id, direction: "both" }, { signal });
  const other = (link: Link): string => (link.source_id === memory.id ? link.target_id : link.source_id);
  const known = new Set(links.map(other));
  const named = memory.kind !== "episode" && memory.source_episode_id !== null && !known.has(memory.source_episode_id) ? [memory.source_episode_id] : [];
  const shown = links.slice(0, MOST_SOURCES);
  const all = [...named.map((id) => ({ id, link: null })), ...shown.map((link) => ({ id: other(link), link }))];
  const related = await Promise.all(all.map(async (one) => ({ ...one, memory: await client.get({ id: one.id, count_references: false }, { signal }) })));
  const isSource = ({ link }: Related): boolean => link === null || (link.relation === "derived_from" && link.source_id === memory.id);
  return { sources: related.filter(isSource), others: related.filter((one) => !isSource(one)), rest: links.length - shown.length };
}

function Sources({ memory, turn }: { memory: Memory; turn: number }): VNode {
  const { client } = useSession();
  const related = useLoaded((signal) => loadRelated(client, memory, signal), [client, memory.id, turn]);
  return (
    <Shown of={related}>
      {({ sources, others, rest }) => (
        <>
          {memory.kind !== "episode" && (
            <section aria-labelledby="sources">
              <h2 id="sources">Where it comes from</h2>
              {sources.length === 0 ? <p class="quiet">Nobody said where: it was stored as it is.</p> : <ul class="list">{sources.map((one) => <li key={one.id}><RelatedRow of={one} says={memory} /></li>)}</ul>}
            </section>
          )}
          {others.length > 0 && (
            <section aria-labelledby="links">
              <h2 id="links">Links</h2>
              <ul class="list">{others.map((one) => <li key={one.id}><RelatedRow of={one} /></li>)}</ul>
              {rest > 0 && <p class="quiet">{rest} more; <code>engrain links {memory.id}</code> lists them all.</p>}
            </section>
          )}
        </>
      )}
    </Shown>
  );
}

function RelatedRow({ of, says }: { of: Related; says?: Memory }): VNode {
  const relation = of.link === null || (says !== undefined && of.link.relation === "derived_from") ? null : <Badge text={`${of.link.source_id === of.id ? "" : "this "}${showCode(of.link.relation)}${of.link.source_id === of.id ? " this" : ""}`} />;
  if (of.memory === null) return <p class="quiet">{relation} <code>{of.id}</code> is erased, or not for this agent.</p>;
  if (says !== undefined && of.memory.kind === "episode") return <Quote episode={of.memory} says={says} />;
  return <MemoryLine memory={of.memory}><p class="relation">{relation}</p></MemoryLine>;
}

function Events({ id, turn }: { id: string; turn: number }): VNode {
  const { client } = useSession();
  const events = usePages((after) => client.events({ id, limit: 20, ...after }), [client, id, turn]);
  return (
    <section aria-labelledby="events">
      <h2 id="events">Events</h2>
      <Shown of={events}>
        {(list) => list.length === 0 ? <p class="quiet">No event of it was written: turns are stored without one.</p> : (
          <table>
            <thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">By</th><th scope="col">Details</th></tr></thead>
            <tbody>{list.map((event) => <EventRow key={event.id} event={event} />)}</tbody>
          </table>
        )}
      </Shown>
      <More of={events} />
    </section>
  );
}

function EventRow({ event }: { event: Event }): VNode {
  const details = Object.entries(event.payload).filter(([, value]) => value !== null);
  return (
    <tr>
      <td>{showTime(event.created_at)}</td>
      <th scope="row">{showCode(event.event_type)}</th>
      <td>{event.actor}{event.run_id !== null && <> in run <code>{event.run_id}</code></>}</td>
      <td class="payload">{details.map(([name, value]) => <span key={name}><b>{showCode(name)}</b> <bdi>{typeof value === "string" ? value : JSON.stringify(value)}</bdi></span>)}</td>
    </tr>
  );
}
