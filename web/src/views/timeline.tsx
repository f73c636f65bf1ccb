/** Timeline: facts by the time they were true, what superseded what, and what was believed on a day. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Fact } from "engrain";
import { usePages } from "../loading";
import { Badge, More, Shown, StateBadge } from "../parts";
import { address, replaceArgs } from "../router";
import type { Place } from "../router";
import { useSession } from "../session";
import { endOfDay, isLive, showCode, showCount, showDay, stateOf } from "../texts";

const FACTS = 50;
const SLIDING_MS = 150;
const DAY_MS = 86_400_000;
const TICKS = 5;

/** What is shown: facts about a subject, with a predicate, as believed at the end of a day; now where it is empty. */
interface Choice {
  subject: string;
  predicate: string;
  day: string;
}

export function TimelineView({ place }: { place: Place }): VNode {
  const { client } = useSession();
  const [choice, setChoice] = useState<Choice>({ subject: place.args.get("subject") ?? "", predicate: place.args.get("predicate") ?? "", day: place.args.get("as_of") ?? "" });
  const change = (part: Partial<Choice>): void => {
    const next = { ...choice, ...part };
    setChoice(next);
    replaceArgs({ subject: next.subject, predicate: next.predicate, as_of: next.day });
  };
  const { subject, predicate, day } = choice;
  const facts = usePages(
    (after, signal) => client.facts({ subject: subject || null, predicate: predicate || null, limit: FACTS, ...(day === "" ? { include_inactive: true } : { as_of: endOfDay(day) }), ...after }, { signal }),
    [client, subject, predicate, day],
    { delayMs: SLIDING_MS },
  );
  return (
    <section aria-labelledby="timeline-title">
      <h1 id="timeline-title">Timeline</h1>
      <p class="quiet">A bar is the time in which a fact was true. The slider goes back to what was believed on a day.</p>
      <div class="fields">
        <label class="field">Subject<input value={subject} onChange={(event) => change({ subject: event.currentTarget.value.trim() })} /></label>
        <label class="field">Predicate<input value={predicate} onChange={(event) => change({ predicate: event.currentTarget.value.trim() })} /></label>
      </div>
      <div class={facts.isLoading ? "results late" : "results"} aria-busy={facts.isLoading}>
        <Shown of={facts}>{(list) => <Chart facts={list} day={day} choose={(chosen) => change({ day: chosen })} />}</Shown>
        <More of={facts} />
      </div>
    </section>
  );
}

interface Slot {
  key: string;
  facts: Fact[];
}

/** The facts of each subject, predicate and scope, the earliest first; slots in the order in which they came. */
function groupBySlot(facts: Fact[]): Slot[] {
  const slots = Map.groupBy(facts, (fact) => JSON.stringify([fact.scope, fact.subject_key, fact.predicate_key]));
  return [...slots].map(([key, group]) => ({ key, facts: group.sort((one, other) => beginOf(one) - beginOf(other)) }));
}

function beginOf(fact: Fact): number {
  return Date.parse(fact.valid_from ?? fact.created_at);
}

/** The end of the time in which a fact was true, as far as it is known; now for one that still is. */
function endOf(fact: Fact, now: number): number {
  const end = fact.valid_to ?? (isLive(fact) ? null : fact.invalidated_at);
  return end === null ? now : Date.parse(end);
}

interface Scale {
  from: number;
  to: number;
}

function Chart({ facts, day, choose }: { facts: Fact[]; day: string; choose: (day: string) => void }): VNode {
  const [now] = useState(Date.now);
  const [oldest, setOldest] = useState(now);
  const believed = Math.min(oldest, ...facts.map((fact) => Date.parse(fact.created_at)));
  if (believed < oldest) setOldest(believed); // of all that was shown: the slider does not shrink while it is moved
  const from = Math.min(believed, ...facts.map(beginOf));
  const scale = { from, to: Math.max(now, from + DAY_MS, ...facts.map((fact) => endOf(fact, now))) };
  const successors = new Map(facts.filter((fact) => fact.supersedes_id !== null).map((fact) => [fact.supersedes_id, fact]));
  return (
    <>
      <DaySlider from={believed} now={now} day={day} choose={choose} />
      <p class="summary" role="status">{day === "" ? "All that was ever believed" : <>As believed on <strong>{day}</strong></>}: {showCount(facts.length, "fact")} shown</p>
      {facts.length === 0 ? <p>No fact is known that was.</p> : (
        <div class="chart">
          <Axis scale={scale} />
          {groupBySlot(facts).map((slot) => (
            <section key={slot.key} aria-label={`${slot.facts[0]!.subject}, ${showCode(slot.facts[0]!.predicate)}`}>
              <h2><bdi>{slot.facts[0]!.subject}</bdi> <span class="quiet"><bdi>{showCode(slot.facts[0]!.predicate)}</bdi></span></h2>
              <ol>{slot.facts.map((fact) => <li key={fact.id}><Bar fact={fact} successor={successors.get(fact.id)} scale={scale} now={now} day={day} /></li>)}</ol>
            </section>
          ))}
        </div>
      )}
    </>
  );
}

function DaySlider({ from, now, day, choose }: { from: number; now: number; day: string; choose: (day: string) => void }): VNode {
  const days = Math.max(Math.ceil((now - from) / DAY_MS), 1);
  const chosen = day === "" ? days : Math.min(Math.max(Math.round((Date.parse(day) - dayOf(from)) / DAY_MS), 0), days);
  const move = (place: number): void => choose(place >= days ? "" : showDay(new Date(dayOf(from) + place * DAY_MS).toISOString()));
  return (
    <div class="slider">
      <label class="field">As believed on
        <input type="range" min={0} max={days} value={chosen} aria-valuetext={day === "" ? "now" : day} onInput={(event) => move(Number(event.currentTarget.value))} />
      </label>
      <label class="field">Day<input type="date" value={day} max={showDay(new Date(now).toISOString())} onChange={(event) => choose(event.currentTarget.value)} /></label>
      <button type="button" disabled={day === ""} onClick={() => choose("")}>Now</button>
    </div>
  );
}

function dayOf(moment: number): number {
  return Math.floor(moment / DAY_MS) * DAY_MS;
}

function Axis({ scale }: { scale: Scale }): VNode {
  const at = (place: number): string => showDay(new Date(scale.from + (place / (TICKS - 1)) * (scale.to - scale.from)).toISOString());
  return <div class="axis quiet" aria-hidden="true"><span /><div>{Array.from({ length: TICKS }, (_, place) => <span key={place}>{at(place)}</span>)}</div></div>;
}

interface BarProps {
  fact: Fact;
  successor: Fact | undefined;
  scale: Scale;
  now: number;
  day: string;
}

function Bar({ fact, successor, scale, now, day }: BarProps): VNode {
  const share = (moment: number): number => Math.min(Math.max(((moment - scale.from) / (scale.to - scale.from)) * 100, 0), 100);
  const [left, right] = [share(beginOf(fact)), share(endOf(fact, now))];
  const isGone = day === "" && !isLive(fact);
  const isOver = fact.valid_to !== null || !isLive(fact);
  const period = `${fact.valid_from === null ? `known since ${showDay(fact.created_at)}` : `from ${showDay(fact.valid_from)}`}${isOver ? ` to ${showDay(fact.valid_to ?? fact.invalidated_at)}` : ""}`;
  return (
    <div class={isGone ? "version gone" : "version"}>
      <div class="words">
        <a href={address("memory", fact.id)} dir="auto" class="said">{fact.content}</a>
        <span class="about"><bdi>{period}</bdi>{successor !== undefined && <bdi>superseded by <a href={address("memory", successor.id)}>{successor.content}</a></bdi>}</span>
        {day === "" || isLive(fact) ? <StateBadge memory={fact} /> : <Badge text={`${stateOf(fact)} since`} tone="gone" />}
      </div>
      <div class="track" aria-hidden="true">
        <span class={fact.valid_from === null ? "open" : ""} style={{ left: `${left}%`, width: `${Math.max(right - left, 0.5)}%` }} title={period} />
        {day !== "" && <i style={{ left: `${share(Date.parse(day))}%` }} />}
      </div>
    </div>
  );
}
