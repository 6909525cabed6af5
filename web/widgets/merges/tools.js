// The tokenizers of a page, and a text as each of them cuts it.

import { line, select, TEXT } from "../shared/controls.js";
import { h } from "../shared/dom.js";
import { quoted, visible } from "../shared/tokens.js";
import { bpe, joined, longest, unigram } from "./models.js";
import { minus } from "./picture.js";
import { reader } from "./text.js";

const KINDS = {
  bpe: ["BPE", "#0072b2", bpe], wordpiece: ["WordPiece", "#d55e00", longest], unigram: ["Unigram", "#009e73", unigram],
};

/** @returns {{kind, name, color, facts, cutter, cut, words}[]} in the order of the arguments. */
export const read = (arrays, model) => Object.entries(KINDS).flatMap(([kind, [name, color, cutter]]) => {
  const facts = model.get("tokenizers")[kind];
  if (!facts) return [];
  facts.training?.rounds?.forEach((round, i) => {
    round.kept = arrays[`kept_${i}`].data;
    round.scores = arrays[`scores_${i}`].data;
  });
  return { kind, name, color, facts, cutter, cut: cutter(facts), words: reader(facts) };
});

const text = line({ label: "Your text", start: "", most: 200 });

export const common = (tools) => ({
  text: { ...text, takes: (it) => text.takes(it) && it.isWellFormed() },
  algorithm: select({ label: "Algorithm", start: tools[0].kind, choices: Object.fromEntries(tools.map((it) => [it.kind, it.name])) }),
});

/** The tool with the tokens of each chunk of a text (what spaces part), and all of them. */
export function cutText(tool, text) {
  const ends = [...text.matchAll(/\S+/g)].map((it) => it.index + it[0].length);
  const chunks = ends.map(() => []);
  for (const { chars, at } of ends.length ? tool.words(text) : []) {
    for (const it of tool.cut(chars).tokens) {
      const to = at[it.end - 1];
      (chunks[ends.findIndex((end) => to < end)] ?? chunks.at(-1)) // trailing spaces go with the last
        .push({ ...it, first: at[it.start], to, chars, tool, lost: it.id === undefined || it.id === tool.facts.unknown });
    }
  }
  return { ...tool, chunks, all: chunks.flat() };
}

export const pieces = (all) => all.map(({ piece }) => visible(piece)).join(" ");

const ranks = ({ merges, prefix }) => new Map(merges?.map((pair, rank) => [joined(pair, prefix), rank + 1]));

/** When a piece was learned, or how probable it is. */
export const worth = ({ id, piece, lost, tool: { facts } }) => {
  facts.ranks ??= ranks(facts);
  return (lost ? "unknown" : facts.scores ? `log probability ${minus(facts.scores[id])}`
    : facts.ranks.has(piece) && `merge ${facts.ranks.get(piece)}`) || "";
};

export const about = (it) => [quoted(it.piece), it.tool.name, it.id === undefined ? "no token" : `id ${it.id}`, worth(it)]
  .filter(Boolean).join(", ");

/** A field for a number of steps, of `last(tool)` that there are. What it does not take changes nothing, and is named. */
export const counted = (tools, last) => ({ onInput, onSettle }) => {
  let now;
  const input = h("input", {
    type: "number", style: TEXT, min: 0,
    oninput() {
      const fits = input.value && input.checkValidity();
      input.ariaInvalid = !fits;
      why.textContent = fits ? "" : `An integer from 0 to ${input.max} is needed; ${now} stays.`;
      if (fits) onInput(+input.value);
    },
    onchange() {
      input.value = now; // what was wrong with another stays below
      input.ariaInvalid = false;
      onSettle();
    },
  });
  const why = h("div", { "aria-live": "polite", style: "color:var(--ink)" });
  return {
    node: h("div", { class: "lm-field" }, h("label", null, "Step", input), why),
    show(value, { algorithm }) {
      input.max = last(tools.find(({ kind }) => kind === algorithm));
      now = Math.min(value, input.max);
      if (+input.value !== now) why.textContent = "";
      input.value = now;
    },
  };
};

/** Tips for boxes: the words after the first comma stand below. */
export const pointing = (tip, words) => (it) =>
  (it ? tip.show(words(it).replace(", ", "\n"), it.x, it.y) : tip.hide());
