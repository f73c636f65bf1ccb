/** Context: the block that a model gets for a prompt, at a budget; what stands in it by section, and what just missed. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ContextBlock, ContextSection } from "engrain";
import { useLoaded } from "../loading";
import { Problem } from "../parts";
import { address, replaceArgs } from "../router";
import type { Place } from "../router";
import { useSession } from "../session";
import { showCode, showCount } from "../texts";

const TYPING_MS = 250;
const BUDGETS = [100, 250, 500, 1000, 2000, 4000, 8000];
const DEFAULT_BUDGET = 1000;

export function ContextView({ place }: { place: Place }): VNode {
  const [prompt, setPrompt] = useState(place.args.get("q") ?? "");
  const [budget, setBudget] = useState(Number(place.args.get("budget")) || DEFAULT_BUDGET);
  const change = (q: string, tokens: number): void => {
    setPrompt(q);
    setBudget(tokens);
    replaceArgs({ q, budget: tokens === DEFAULT_BUDGET ? undefined : String(tokens) });
  };
  return (
    <section aria-labelledby="context-title">
      <h1 id="context-title">Context</h1>
      <p class="quiet">What a model gets to read before it answers this prompt.</p>
      <div class="searchbar prompt">
        <label class="field">Prompt
          <textarea rows={2} class="query" value={prompt} onInput={(event) => change(event.currentTarget.value, budget)} />
        </label>
        <label class="field">Budget in tokens
          <select value={String(budget)} onChange={(event) => change(prompt, Number(event.currentTarget.value))}>
            {[...new Set([...BUDGETS, budget])].sort((a, b) => a - b).map((tokens) => <option key={tokens} value={String(tokens)}>{tokens.toLocaleString("en")}</option>)}
          </select>
        </label>
      </div>
      {prompt.trim() === "" ? null : <Block prompt={prompt} budget={budget} />}
    </section>
  );
}

function Block({ prompt, budget }: { prompt: string; budget: number }): VNode {
  const { client } = useSession();
  const args = { query: prompt, budget_tokens: budget, with_sources: false, count_references: false };
  const block = useLoaded((signal) => client.context(args, { signal }), [client, prompt, budget], { delayMs: TYPING_MS });
  return (
    <div class={block.isLoading ? "results late" : "results"} aria-busy={block.isLoading}>
      {block.error !== undefined && <Problem text={block.error} />}
      {block.value !== undefined && <Filled block={block.value} />}
    </div>
  );
}

function Filled({ block }: { block: ContextBlock }): VNode {
  const lengths = block.sections.map((section) => section.lines.reduce((sum, line) => sum + line.length + 1, 0));
  const total = Math.max(lengths.reduce((sum, length) => sum + length, 0), 1);
  const share = Math.min(block.tokens / Math.max(block.budget_tokens, 1), 1);
  return (
    <>
      <p class="summary" role="status">
        <strong>{showCount(block.tokens, "token")}</strong> of {block.budget_tokens.toLocaleString("en")}
        {block.evidence !== null && <> · evidence <strong>{block.evidence}</strong></>}
        {block.left_out > 0 && <> · {showCount(block.left_out, "memory", "memories")} had no room</>}
        {block.clipped.length > 0 && <> · {showCount(block.clipped.length, "memory", "memories")} clipped</>}
      </p>
      {block.degraded.map((part) => <p key={part.code} class="warning">{part.message}</p>)}
      <div class="bar filled" role="img" aria-label={`${Math.round(share * 100)} % of the budget: ${block.sections.map((section) => section.name).join(", ")}`}>
        {block.sections.map((section, place) => <span key={section.name} style={{ width: `${((lengths[place] ?? 0) / total) * share * 100}%`, background: `var(--c${place})` }} title={section.heading} />)}
      </div>
      {block.sections.length === 0 ? <p>Nothing is known that answers this: the block is empty.</p> : (
        <div class="columns">
          <div>{block.sections.map((section, place) => <Section key={section.name} section={section} place={place} />)}</div>
          <div><h2>As the model reads it</h2><pre tabIndex={0} aria-label="The block">{block.text}</pre></div>
        </div>
      )}
    </>
  );
}

function Section({ section, place }: { section: ContextSection; place: number }): VNode {
  return (
    <section aria-label={showCode(section.name)}>
      <h2><i class="swatch" style={{ background: `var(--c${place})` }} />{section.heading.replace(/^#+\s*/, "")}</h2>
      <ul class="list lines">
        {section.lines.map((line, number) => {
          const [id, words] = [section.ids[number], line.replace(/^- /, "")];
          return <li key={number}>{id === undefined ? words : <a class="said" dir="auto" href={address("memory", id)}>{words}</a>}</li>;
        })}
      </ul>
    </section>
  );
}
