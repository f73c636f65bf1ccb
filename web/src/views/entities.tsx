/** Entities: whom and what memories are about, as a graph and as lists; merge with a preview, and unmerge. */

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { EntityMatch, EntityProfile, Event, Fact } from "engrain";
import { useDrawing } from "../colours";
import { useLoaded, usePages } from "../loading";
import { loadNetwork } from "../network";
import type { Network } from "../network";
import { useNotices } from "../notices";
import { Badge, Dialog, MemoryLine, More, Problem, Shown } from "../parts";
import { address, replaceArgs } from "../router";
import type { Place } from "../router";
import { explainError, useSession } from "../session";
import { isLive, showCode, showCount, showDay, showTime } from "../texts";

const TYPING_MS = 180;
const TYPES = ["person", "organization", "place", "project", "email", "url", "other"] as const;
type EntityType = (typeof TYPES)[number];
const MATCHES = 8;
const EPISODES = 10;

export function EntitiesView({ place }: { place: Place }): VNode {
  return place.id === undefined ? <Everybody place={place} /> : <OneEntity key={place.id} id={place.id} />;
}

function Everybody({ place }: { place: Place }): VNode {
  const { client } = useSession();
  const [name, setName] = useState(place.args.get("q") ?? "");
  const [type, setType] = useState<EntityType | "">("");
  const network = useLoaded((signal) => loadNetwork(client, undefined, signal), [client]);
  const entities = usePages((after, signal) => client.entities.find({ limit: 50, ...(type === "" ? {} : { entity_type: type }), ...after }, { signal }), [client, type]);
  const search = (typed: string): void => {
    setName(typed);
    replaceArgs({ q: typed });
  };
  return (
    <section class="one" aria-labelledby="entities-title">
      <h1 id="entities-title">Entities</h1>
      <div class="searchbar prompt" role="search">
        <label class="field">Name<input type="search" value={name} onInput={(event) => search(event.currentTarget.value)} /></label>
        <label class="field">Type
          <select value={type} onChange={(event) => setType(event.currentTarget.value as EntityType | "")}>
            <option value="">any</option>
            {TYPES.map((known) => <option key={known} value={known}>{known}</option>)}
          </select>
        </label>
      </div>
      {name.trim() === "" ? <Shown of={network}>{(found) => <Picture network={found} />}</Shown> : <Matches name={name} />}
      <section aria-labelledby="newest"><h2 id="newest">All entities</h2>
        <Shown of={entities}>
          {(list) => list.length === 0 ? <p class="quiet">Nobody and nothing is known by name.</p> : (
            <ul class="list">{list.map((entity) => <li key={entity.id} class="line"><EntityLink id={entity.id} name={entity.canonical_name} /><Badge text={entity.entity_type} /><span class="quiet">{showCount(entity.mention_count, "mention")}{entity.aliases.length > 0 && <>, also <bdi>{entity.aliases.join(", ")}</bdi></>}</span></li>)}</ul>
          )}
        </Shown>
        <More of={entities} />
      </section>
    </section>
  );
}

function EntityLink({ id, name }: { id: string; name: string }): VNode {
  return <a class="said" href={address("entities", id)}><bdi>{name}</bdi></a>;
}

function useMatches(name: string): ReturnType<typeof useLoaded<EntityMatch[]>> {
  const { client } = useSession();
  return useLoaded(async (signal) => (name.trim() === "" ? [] : client.entities.resolve({ name: name.trim(), fuzzy: true, limit: MATCHES }, { signal })), [client, name], { delayMs: TYPING_MS });
}

function Matches({ name }: { name: string }): VNode {
  const matches = useMatches(name);
  return (
    <Shown of={matches}>
      {(list) => list.length === 0 ? <p role="status">No entity has a name like this.</p> : (
        <ul class="list" aria-label="Matches">{list.map((match) => <li key={match.entity_id} class="line"><EntityLink id={match.entity_id} name={match.canonical_name} /><Badge text={match.entity_type} /><span class="quiet">{match.name_match}</span></li>)}</ul>
      )}
    </Shown>
  );
}

/** The network as a picture, and as a list for whoever does not see it or has no mouse. */
function Picture({ network, chosen }: { network: Network; chosen?: string }): VNode | null {
  const canvas = useRef<HTMLDivElement>(null);
  const [isShown, setIsShown] = useState(true);
  useDrawing(canvas, async (element) => {
    const { drawNetwork } = await import("../graph");
    try {
      return drawNetwork(element, network, chosen, (id) => { location.hash = address("entities", id); });
    } catch {
      setIsShown(false); // no WebGL here: the list says the same
      return () => {};
    }
  }, [network]);
  if (network.nodes.length === 0) return null;
  const names = new Map(network.nodes.map((node) => [node.id, node.name]));
  return (
    <figure>
      {isShown && <div ref={canvas} class="graph" role="img" aria-label={`Graph of ${showCount(network.nodes.length, "entity", "entities")} with ${showCount(network.edges.length, "relation")}; the list below says the same`} />}
      <details open={!isShown}><summary class="quiet">As a list</summary>
        <ul class="list">{network.edges.map((edge) => <li key={`${edge.source} ${edge.target}`} class="line"><EntityLink id={edge.source} name={names.get(edge.source)!} /> and <EntityLink id={edge.target} name={names.get(edge.target)!} /><span class="quiet">in {showCount(edge.memories, "memory", "memories")}</span></li>)}</ul>
      </details>
    </figure>
  );
}

function OneEntity({ id }: { id: string }): VNode {
  const { client } = useSession();
  const [turn, setTurn] = useState(0);
  const profile = useLoaded((signal) => client.entities.profile({ id_or_name: id }, { signal }), [client, id, turn]);
  return <Shown of={profile}>{(found) => <Profile profile={found} turn={turn} changed={() => setTurn(turn + 1)} />}</Shown>;
}

function Profile({ profile, turn, changed }: { profile: EntityProfile; turn: number; changed: () => void }): VNode {
  const { client, may } = useSession();
  const [isMerging, setIsMerging] = useState(false);
  const { entity, episodes, related } = profile;
  const network = useLoaded((signal) => loadNetwork(client, profile, signal), [client, profile]);
  return (
    <article class="one">
      <header class="title">
        <p class="line"><Badge text={entity.entity_type} /><span class="quiet">{showCount(entity.mention_count, "mention")}, {showDay(profile.first_seen_at)} to {showDay(profile.last_seen_at)}</span></p>
        <h1 dir="auto" class="said">{entity.canonical_name}</h1>
        {entity.aliases.length > 0 && <p class="quiet">Also <bdi>{entity.aliases.join(", ")}</bdi></p>}
      </header>
      {may("writer") && entity.id !== "" && <div class="actions"><button type="button" onClick={() => setIsMerging(true)}>Merge into another</button></div>}
      {isMerging && <MergeDialog source={profile} close={() => setIsMerging(false)} />}
      {related.length > 0 && <Shown of={network}>{(found) => <Picture network={found} chosen={entity.id} />}</Shown>}
      <section aria-labelledby="facts"><h2 id="facts">Facts</h2>
        {Object.entries(profile.facts).map(([predicate, facts]) => (
          <section key={predicate} aria-label={showCode(predicate)}>
            <h3><bdi>{showCode(predicate)}</bdi> <a class="quiet" href={address("timeline", undefined, { subject: entity.canonical_name, predicate })}>timeline</a></h3>
            <ul class="list">{facts.map((fact) => <li key={fact.id}><MemoryLine memory={fact} /></li>)}</ul>
          </section>
        ))}
        {Object.keys(profile.facts).length === 0 && <p class="quiet">No fact is about it.</p>}
      </section>
      {episodes.length > 0 && (
        <section aria-labelledby="mentions"><h2 id="mentions">Mentioned in</h2>
          <ul class="list">{episodes.slice(0, EPISODES).map((episode) => <li key={episode.id}><MemoryLine memory={episode} /></li>)}</ul>
          {episodes.length > EPISODES && <p class="quiet">The newest {EPISODES} of {episodes.length}.</p>}
        </section>
      )}
      {entity.id !== "" && <Merges id={entity.id} turn={turn} changed={changed} />}
    </article>
  );
}

interface MergeEvent {
  number: number;
  source_entity_id: string;
  undone?: boolean;
  merged_at?: string;
  aliases_added?: string[];
}

/** The merges into an entity that still stand, the last first: they come apart in the reverse of their order. */
function Merges({ id, turn, changed }: { id: string; turn: number; changed: () => void }): VNode | null {
  const { client, may } = useSession();
  const notify = useNotices();
  const [problem, setProblem] = useState<string | null>(null);
  const events = useLoaded(async (signal) => standingMerges((await client.events({ id, limit: 100 }, { signal })).items), [client, id, turn]);
  const merges = events.value ?? [];
  if (merges.length === 0) return null;
  const unmerge = async (source: string): Promise<void> => {
    try {
      const { source: freed } = await client.entities.unmerge({ source_id: source });
      notify({ text: `${freed.canonical_name} is an entity of its own again.` });
      changed();
    } catch (error) {
      setProblem(explainError(error));
    }
  };
  return (
    <section aria-labelledby="merges"><h2 id="merges">Merged into it</h2>
      <ul class="list">
        {merges.map((merge, place) => (
          <li key={merge.number} class="line">
            <bdi>{merge.aliases_added?.join(", ") || merge.source_entity_id}</bdi><span class="quiet">{showTime(merge.merged_at)}</span>
            {place === 0 && may("writer") && <button type="button" class="end" onClick={() => void unmerge(merge.source_entity_id)}>Unmerge</button>}
          </li>
        ))}
      </ul>
      {problem !== null && <Problem text={problem} />}
    </section>
  );
}

function standingMerges(events: Event[]): MergeEvent[] {
  const told = events.filter((event) => event.event_type === "entity_merge" || event.event_type === "entity_unmerge").map((event) => event.payload as unknown as MergeEvent);
  const undone = new Set(told.filter((merge) => merge.undone === true).map((merge) => merge.number));
  const merges = new Map(told.filter((merge) => merge.undone !== true && !undone.has(merge.number)).map((merge) => [merge.number, merge]));
  return [...merges.values()].sort((one, other) => other.number - one.number);
}

function MergeDialog({ source, close }: { source: EntityProfile; close: () => void }): VNode {
  const { client } = useSession();
  const notify = useNotices();
  const [name, setName] = useState("");
  const [targetId, setTargetId] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const matches = useMatches(name);
  const target = useLoaded(async (signal) => (targetId === "" ? null : client.entities.profile({ id_or_name: targetId }, { signal })), [client, targetId]);
  const { id } = source.entity;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    try {
      await client.entities.merge({ source_id: id, target_id: targetId });
      const undo = async (): Promise<string> => address("entities", (await client.entities.unmerge({ source_id: id })).source.id);
      notify({ text: `${source.entity.canonical_name} was merged.`, undo });
      location.hash = address("entities", targetId);
      close();
    } catch (error) {
      setProblem(explainError(error));
    }
  };
  const choices = (matches.value ?? []).filter((match) => match.entity_id !== id);
  return (
    <Dialog title={`Merge ${source.entity.canonical_name} into another?`} close={close}>
      <form onSubmit={submit}>
        <label class="field">Who or what it is
          <input type="search" autoFocus value={name} onInput={(event) => { setName(event.currentTarget.value); setTargetId(""); }} />
        </label>
        <fieldset>
          <legend class="hidden">Entities of this name</legend>
          {choices.map((match) => (
            <label key={match.entity_id} class="check"><input type="radio" name="target" checked={targetId === match.entity_id} onChange={() => setTargetId(match.entity_id)} /><bdi>{match.canonical_name}</bdi> <Badge text={match.entity_type} /></label>
          ))}
          {name.trim() !== "" && !matches.isLoading && choices.length === 0 && <p class="quiet" role="status">No other entity has a name like this.</p>}
        </fieldset>
        {target.value && <Preview source={source} target={target.value} />}
        {(problem ?? target.error) !== null && (problem ?? target.error) !== undefined && <Problem text={(problem ?? target.error)!} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class="main" disabled={!target.value}>Merge</button>
        </div>
      </form>
    </Dialog>
  );
}

interface Conflict {
  loser: Fact;
  winner: Fact;
}

function factsOf({ entity, facts }: EntityProfile): Fact[] {
  return Object.values(facts).flat().filter((fact) => fact.entity_id === entity.id);
}

/** The facts of two entities that would fill one slot: the one of lower confidence is superseded, of equals the source's. */
function findConflicts(source: EntityProfile, target: EntityProfile): Conflict[] {
  const slot = (fact: Fact): string => JSON.stringify([fact.scope, fact.predicate_key]);
  const live = new Map(factsOf(target).filter(isLive).map((fact) => [slot(fact), fact]));
  return factsOf(source).filter(isLive).flatMap((fact) => {
    const other = live.get(slot(fact));
    if (other === undefined) return [];
    return [fact.confidence > other.confidence ? { loser: other, winner: fact } : { loser: fact, winner: other }];
  });
}

function Preview({ source, target }: { source: EntityProfile; target: EntityProfile }): VNode {
  const known = new Set([target.entity.canonical_name, ...target.entity.aliases].map((name) => name.toLowerCase()));
  const names = [source.entity.canonical_name, ...source.entity.aliases].filter((name) => !known.has(name.toLowerCase()));
  const conflicts = findConflicts(source, target);
  return (
    <>
      <h3>What will happen</h3>
      <ul class="effects">
        <li><bdi>{target.entity.canonical_name}</bdi> gets {showCount(factsOf(source).length, "fact")} and {showCount(source.entity.mention_count, "mention")}, and those that this agent does not see.</li>
        {names.length > 0 && <li>Its other names are then <bdi>{[...target.entity.aliases, ...names].join(", ")}</bdi>.</li>}
        {conflicts.map(({ loser, winner }) => <li key={loser.id} class="conflict"><bdi>{showCode(loser.predicate)}: {loser.content}</bdi> is superseded by <bdi>{winner.content}</bdi>.</li>)}
        <li>Undo, or unmerge later, takes all of it back.</li>
      </ul>
    </>
  );
}
