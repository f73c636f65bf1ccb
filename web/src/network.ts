/** Network of entities that the same memories mention, read from their profiles. */

import type { Engrain, EntityProfile } from "engrain";

export interface Node {
  id: string;
  name: string;
  type: string;
  mentions: number;
}

export interface Edge {
  source: string;
  target: string;
  /** The number of memories that mention both. */
  memories: number;
}

export interface Network {
  nodes: Node[];
  edges: Edge[];
}

const SEEDS = 12;

/** Load the network around an entity, or without one around those that most facts are about. */
export async function loadNetwork(client: Engrain, around: EntityProfile | undefined, signal: AbortSignal): Promise<Network> {
  const seeds = around === undefined ? await findSeeds(client, signal) : around.related.map((other) => other.entity_id);
  const profiles = await Promise.all(seeds.map((id) => client.entities.profile({ id_or_name: id }, { signal })));
  return buildNetwork(around === undefined ? profiles : [around, ...profiles]);
}

async function findSeeds(client: Engrain, signal: AbortSignal): Promise<string[]> {
  const { entities } = await client.overview({ days: 0, limit: SEEDS }, { signal });
  const known = entities.map(({ entity }) => entity.id);
  if (known.length === SEEDS) return known;
  const page = await client.entities.find({ limit: SEEDS }, { signal });
  return [...new Set([...known, ...page.items.map((entity) => entity.id)])].slice(0, SEEDS);
}

function buildNetwork(profiles: EntityProfile[]): Network {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  for (const { entity } of profiles) nodes.set(entity.id, { id: entity.id, name: entity.canonical_name, type: entity.entity_type, mentions: entity.mention_count });
  for (const { entity, related } of profiles) {
    for (const other of related) {
      if (!nodes.has(other.entity_id)) nodes.set(other.entity_id, { id: other.entity_id, name: other.canonical_name, type: other.entity_type, mentions: other.memories });
      const [source, target] = [entity.id, other.entity_id].sort() as [string, string];
      edges.set(`${source} ${target}`, { source, target, memories: other.memories });
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}
