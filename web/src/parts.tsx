/** Parts that several views show: badges, memories on one line, bars of a score, dialogs, lists with more. */

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Episode, Explanation, Memory } from "engrain";
import type { Loaded, LoadedPages } from "./loading";
import { address } from "./router";
import { isLive, sayMemory, showCode, showDay, showNumber, showTime, stateOf } from "./texts";

export function Problem({ text }: { text: string }): VNode {
  return <p class="problem" role="alert">{text}</p>;
}

/** A loaded value, or the state of its loading. */
export function Shown<Value>({ of, children }: { of: Loaded<Value>; children: (value: Value) => ComponentChildren }): VNode {
  if (of.value !== undefined) return <>{children(of.value)}{of.error !== undefined && <Problem text={of.error} />}</>;
  if (of.error !== undefined) return <Problem text={of.error} />;
  return <p class="quiet" role="status">Loading …</p>;
}

/** The button that loads the next page of a list. */
export function More<Item>({ of }: { of: LoadedPages<Item> }): VNode | null {
  return of.more === undefined ? null : <button type="button" class="more" onClick={of.more} disabled={of.isLoading}>Show more</button>;
}

export function Badge({ text, tone = "" }: { text: string; tone?: string }): VNode {
  return <span class={`badge ${tone}`}>{text}</span>;
}

export function KindBadge({ memory }: { memory: Memory }): VNode {
  return <Badge text={memory.kind} tone={memory.kind} />;
}

export function StateBadge({ memory }: { memory: Memory }): VNode | null {
  const state = stateOf(memory);
  if (["active", "consolidated", "candidate", "pending"].includes(state) && !(memory.kind === "fact" && memory.pending)) {
    return memory.kind === "rule" ? <Badge text={state} /> : null;
  }
  return <Badge text={showCode(state)} tone={isLive(memory) ? "warn" : "gone"} />;
}

/** What stands under the text of a memory: who, when, where. */
export function About({ memory }: { memory: Memory }): VNode {
  const parts =
    memory.kind === "episode"
      ? [memory.speaker ?? memory.role, memory.session, showTime(memory.event_time)]
      : memory.kind === "fact"
        ? [memory.valid_from === null ? `since ${showDay(memory.created_at)}` : period(memory.valid_from, memory.valid_to), memory.category]
        : [`used ${memory.applied_count}×`, `since ${showDay(memory.created_at)}`];
  return (
    <span class="about">
      {parts.filter(Boolean).map((part, place) => <bdi key={place}>{part}</bdi>)}
      {memory.scope !== memory.agent && <bdi>{memory.scope}</bdi>}
      {memory.trust !== "user" && <bdi>trust: {memory.trust}</bdi>}
    </span>
  );
}

function period(from: string, to: string | null): string {
  return to === null ? `from ${showDay(from)}` : `${showDay(from)} to ${showDay(to)}`;
}

/** A memory as a line of a list, which opens it. Its text is text, whatever it says. */
export function MemoryLine({ memory, children }: { memory: Memory; children?: ComponentChildren }): VNode {
  return (
    <div class={isLive(memory) ? "memory" : "memory gone"}>
      <KindBadge memory={memory} />
      <div class="words">
        <a href={address("memory", memory.id)} dir="auto" class="said">{sayMemory(memory)}</a>
        <About memory={memory} />
      </div>
      <StateBadge memory={memory} />
      {children}
    </div>
  );
}

/** An episode as a quotation, in which the words of what was learned from it are marked. */
export function Quote({ episode, says }: { episode: Episode; says: Memory }): VNode {
  const words = new Set(sayMemory(says).toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
  const pieces = episode.content.split(/([\p{L}\p{N}]+)/u);
  return (
    <figure class="quote">
      <blockquote dir="auto">{pieces.map((piece, place) => (words.has(piece.toLowerCase()) ? <mark key={place}>{piece}</mark> : piece))}</blockquote>
      <figcaption><a href={address("memory", episode.id)}>{episode.speaker ?? episode.role}, {showTime(episode.event_time)}</a>{episode.session !== null && <> in <bdi>{episode.session}</bdi></>}</figcaption>
    </figure>
  );
}

/** The order of colours of `style.css`; a channel that is not named here has the last one. */
const COLOURS = ["vector", "keyword", "session", "speaker", "statement", "moment", "entity", "recency", "importance", "confidence"];

export function colourOf(channel: string): string {
  const place = COLOURS.indexOf(channel);
  return `var(--c${place < 0 ? COLOURS.length : place})`;
}

/** The contributions to a score as stacked bars that add up to it; what lowers it stands to the left. */
export function ScoreBar({ score, why, scale }: { score: number; why: Explanation; scale: number }): VNode {
  const parts = why.contributions.filter((part) => part.value !== 0);
  const said = parts.map((part) => `${part.channel} ${showNumber(part.value)}`).join(", ");
  const width = (value: number): string => `${Math.max((Math.abs(value) / scale) * 100, 0.4)}%`;
  return (
    <div class="score">
      <div class="bar" role="img" aria-label={`Score ${showNumber(score)}: ${said}`}>
        {parts.map((part) => (
          <span key={part.channel} class={part.value < 0 ? "minus" : ""} style={{ width: width(part.value), background: colourOf(part.channel) }} title={`${part.channel}: ${showNumber(part.value)} (${showNumber(part.raw)} × ${part.weight}${part.rank === null ? "" : `, rank ${part.rank}`})`} />
        ))}
      </div>
      <span class="number">{showNumber(score)}</span>
    </div>
  );
}

/** The contributions to a score as a table. */
export function Contributions({ score, why }: { score: number; why: Explanation }): VNode {
  return (
    <table class="numbers">
      <thead><tr><th scope="col">Channel</th><th scope="col">Rank</th><th scope="col">Raw</th><th scope="col">Weight</th><th scope="col">Share</th></tr></thead>
      <tbody>
        {why.contributions.map((part) => (
          <tr key={part.channel}>
            <th scope="row"><i class="swatch" style={{ background: colourOf(part.channel) }} />{showCode(part.channel)}</th>
            <td>{part.rank ?? "–"}</td><td>{showNumber(part.raw)}</td><td>{part.weight}</td><td>{showNumber(part.value)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot><tr><th scope="row" colSpan={4}>Score</th><td>{showNumber(score)}</td></tr></tfoot>
    </table>
  );
}

/** The channels of some explanations with their colours. */
export function Legend({ channels }: { channels: string[] }): VNode {
  return <ul class="legend" aria-label="Channels">{channels.map((channel) => <li key={channel}><i class="swatch" style={{ background: colourOf(channel) }} />{showCode(channel)}</li>)}</ul>;
}

interface DialogProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
}

/** A modal dialog: the browser keeps the focus in it, and Escape closes it. */
export function Dialog({ title, close, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={close}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}
