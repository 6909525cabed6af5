// A line of text of the reader's own. What is wrong with it is said under it, and changes nothing.

import { h } from "./dom.js";

/** Half of a surrogate pair: no character, and Python's strings do not travel with it. */
const HALF = /[\ud800-\udfff]/u;

/**
 * @param {{label: string, rule: string, start: string, most: number, live?: boolean,
 *   wrong: (text: string) => string}} options `rule` stands under the line until something is `wrong`:
 *   that, and what to do. Not `live`: a text is taken when it is finished (Enter).
 */
export const sentence = ({ label, rule, start, most, live, wrong }) => ({
  start,
  takes: (it) => typeof it === "string" && it.length <= most && !HALF.test(it) && !wrong(it),
  make({ onInput, onSettle }) {
    let last;
    const below = h("div", { "aria-live": "polite" }, rule);
    const input = h("input", {
      type: "text", class: "lm-copy", style: "margin:4px 0 6px;cursor:text", maxlength: most, dir: "auto",
      spellcheck: "false", autocapitalize: "off",
      oninput() { if (live) hear(); },
      onchange() {
        hear();
        onSettle();
      },
    });
    function hear() {
      const trouble = wrong(input.value);
      complain(trouble);
      if (!trouble) onInput(last = input.value);
    }
    function complain(trouble) {
      input.ariaInvalid = Boolean(trouble);
      below.textContent = trouble ? `${trouble} The picture keeps the last sentence.` : rule;
      below.style.color = trouble ? "var(--ink)" : "";
    }
    return {
      node: h("div", { class: "lm-field", style: "grid-column:1/-1" }, h("label", null, label, input), below),
      show(value) { // what is being typed stays, whatever else changes
        if (value === last) return;
        last = input.value = value;
        complain();
      },
    };
  },
});
