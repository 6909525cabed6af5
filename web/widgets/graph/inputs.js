// What a reader types: the expression, with its mistakes, and numbers.

import { h } from "../shared/dom.js";
import { abs, finite, max } from "./evaluate.js";
import { say } from "./lexicon.js";
import { isName, parse } from "./parse.js";
import { num } from "./words.js";

const FIELD = "lm-copy"; // what it looks like
/** A field and what goes with it beside each other, or one below the other where it is narrow. */
export const ROW = "display:flex;flex-wrap:wrap;gap:0 8px;align-items:end";

export const isSize = (x) => finite(x) && abs(x) <= 1e6;
export const isValues = (it) => it instanceof Object && !Array.isArray(it) &&
  Object.entries(it).every(([name, x]) => isName(name) && isSize(x));

export const isExpression = (text) => typeof text === "string" && !parse(text).wrong;

/**
 * A line for the expression. What cannot be read stays there, with a caret, and changes nothing.
 *
 * @returns {{node, show: (text: string, anew: boolean) => void}} anew: in place of what is typed, too.
 */
export function expressionField(onInput, onSettle) {
  let last;
  const input = h("input", {
    type: "text", class: FIELD, style: "font:15px ui-monospace,monospace;margin:0;direction:ltr", spellcheck: "false", autocapitalize: "off",
    oninput() {
      const found = parse(input.value);
      complain(found);
      if (!found.wrong) onInput(last = input.value);
    },
    onchange: onSettle,
  });
  const trouble = h("div", { "aria-live": "polite", style: "color:var(--ink)" });
  function complain({ at, wrong }) {
    const start = max(0, at - 24);
    const around = input.value.slice(start, at + 12);
    input.ariaInvalid = !!wrong;
    trouble.replaceChildren(...(wrong ? [
      h("pre", { style: "margin:6px 11px 2px;padding:0;background:none;color:inherit" },
        `${around}\n${" ".repeat(at - start)}^`),
      say("kept", wrong)] : []));
  }
  return {
    node: h("div", { class: "lm-field", style: "margin-top:10px" }, h("label", null, "Expression", input), trouble),
    show(text, anew) {
      if (text === last && !anew) return;
      last = input.value = text;
      complain({});
    },
  };
}

/**
 * A field for a number, and under it a slider if it has one.
 *
 * @param {string} wrong what to say of a number that is not taken, of the lexicon's keys.
 * @returns {{node, show: (x: number, below?: string) => void}}
 */
export function numberField(label, takes, wrong, onInput, onSettle, slides) {
  let now, words, far = 5;
  const input = h("input", {
    type: "number", step: 0.1, class: FIELD, style: "margin:0",
    oninput() {
      const x = input.valueAsNumber, fits = takes(x);
      input.ariaInvalid = !fits;
      below.ariaLive = fits ? "off" : "polite";
      below.textContent = fits ? words : say(wrong, num(now));
      if (fits) onInput(x);
    },
    onchange() {
      input.value = now; // what was wrong with another stays below
      input.ariaInvalid = false;
      onSettle();
    },
  });
  const slider = slides && h("input", {
    type: "range", style: "flex:3 1 100px", "aria-label": `${label}, slider`, oninput() { onInput(+slider.value); }, onchange: onSettle,
  });
  const below = h("div", { style: slides ? "min-height:20px;flex:1 0 100%" : "" });
  return {
    node: h("div", { class: "lm-field", style: ROW + ";flex:1 1 90px" }, h("label", { style: "flex:1 1 80px" }, label, input), slider, below),
    show(x, said = "") {
      now = x;
      words = said;
      if (input.valueAsNumber !== x) input.value = x;
      while (abs(x) > far) far *= 10; // it never shrinks: that would move what is being dragged
      if (slides) Object.assign(slider, { min: -far, max: far, step: far / 100, value: x });
      below.textContent = said;
    },
  };
}
