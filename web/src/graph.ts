/** Graph of entities, drawn by sigma; loaded when it is first shown. */

import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import Sigma from "sigma";
import { drawDiscNodeLabel } from "sigma/rendering";
import { resolveColour } from "./colours";
import type { Network } from "./network";

const STEPS = 150;

/** Draw a network into an element; returns what takes it away again. */
export function drawNetwork(place: HTMLElement, { nodes, edges }: Network, chosen: string | undefined, choose: (id: string) => void): () => void {
  const colour = (name: string): string => resolveColour(place, name);
  const graph = new Graph({ type: "undirected" });
  nodes.forEach(({ id, name, type, mentions }, number) => {
    const angle = (number * 2 * Math.PI) / nodes.length; // the same picture for the same network
    graph.addNode(id, { label: shorten(name), x: Math.cos(angle), y: Math.sin(angle), size: 5 + Math.min(Math.sqrt(mentions), 12), color: colour(id === chosen ? "--danger" : COLOURS[type] ?? "--c10") });
  });
  for (const { source, target, memories } of edges) {
    graph.mergeUndirectedEdge(source, target, { size: Math.min(0.8 + Math.log2(memories), 5), color: colour("--strong-line") });
  }
  forceAtlas2.assign(graph, { iterations: STEPS, settings: { ...forceAtlas2.inferSettings(graph), adjustSizes: true } });
  const sigma = new Sigma(graph, place, { labelColor: { color: colour("--ink") }, labelRenderedSizeThreshold: 0, labelDensity: 2, defaultDrawNodeHover: drawDiscNodeLabel, allowInvalidContainer: true });
  sigma.on("clickNode", ({ node }) => choose(node));
  return () => sigma.kill();
}

const COLOURS: Record<string, string> = { person: "--c0", organization: "--c1", place: "--c2", project: "--c3", email: "--c5", url: "--c6" };

function shorten(name: string): string {
  return name.length > 40 ? `${name.slice(0, 39)}…` : name;
}
