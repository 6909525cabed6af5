// What a reader types: the expression, with its mistakes, and numbers.

import { h } from "../shared/dom.js";
import { finite } from "./evaluate.js";
import { say } from "./lexicon.js";
import { isName, parse } from "./parse.js";

const FIELD = "lm-copy"; // what it looks like
const MONO = "font:15px/1.1 ui-monospace,monospace;";

export const isSize = (x) => finite(x) && Math.abs(x) <= 1e6;
export const isValues = (it) => it instanceof Object && !Array.isArray(it) &&
  Object.entries(it).every(([name, x]) => isName(name) && isSize(x));

/** A line for the expression. What cannot be read stays there, with a caret, and changes nothing. */
export const expressionField = (start) => ({
  start,
  takes: (text) => typeof text === "string" && !parse(text).wrong,
  make({ onInput, onSettle }) {
    let last;
    const input = h("input", {
      type: "text", class: FIELD, style: `${MONO}margin:0;direction:ltr`, spellcheck: "false", autocapitalize: "off",
      oninput() {
        const { at, wrong } = parse(input.value);
        complain(at, wrong);
        if (!wrong) onInput(last = input.value);
      },
      onchange: onSettle,
    });
    const trouble = h("div", { "aria-live": "polite", style: "color:var(--ink);overflow:auto" });
    function complain(at, wrong) {
      const start = Math.max(0, at - 24);
      const around = input.value.slice(start, at + 12);
      input.ariaInvalid = Boolean(wrong);
      trouble.replaceChildren(...(wrong ? [
        h("pre", { style: `${MONO}margin:6px 11px 2px;padding:0;background:none;color:inherit` },
          `${around}\n${" ".repeat(at - start)}^`),
        say("kept", wrong)] : []));
    }
    return {
      node: h("div", { class: "lm-field", style: "grid-column:1/-1" }, h("label", null, "Expression", input), trouble),
      show(value) {
        if (value === last) return;
        last = input.value = value;
        complain();
      },
    };
  },
});

/** A field for a number, and under it a slider if it has one. @returns {{node, show: (x: number, below?: string) => void}} */
export function numberField(label, takes, onInput, onSettle, slides) {
  let now, far = 5;
  const input = h("input", {
    type: "number", step: 0.1, class: FIELD, style: "margin:0",
    oninput() { if (takes(input.valueAsNumber)) onInput(input.valueAsNumber); },
    onchange() {
      input.value = now;
      onSettle();
    },
  });
  const slider = slides && h("input", {
    type: "range", "aria-label": `${label}, slider`, oninput() { onInput(+slider.value); }, onchange: onSettle,
  });
  const below = h("div", { style: "min-height:20px" });
  return {
    node: h("div", { class: "lm-field" }, h("label", null, label, input), slider, below),
    show(x, words = "") {
      now = x;
      if (input.valueAsNumber !== x) input.value = x;
      while (Math.abs(x) > far) far *= 10; // it never shrinks: that would move what is being dragged
      if (slides) Object.assign(slider, { min: -far, max: far, step: far / 100, value: x });
      below.textContent = words;
    },
  };
}
