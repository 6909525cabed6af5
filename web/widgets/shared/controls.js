// Settings with native form controls: each is {start, takes(value), make({onInput, onSettle})}, and
// what is made is {node, show(value, all)}, `all` being the settings.

import { h, set } from "./dom.js";

/** A slider. @param {{label: string, start, positions: (number | null)[], off?: string}} options
 *   positions are the values in order; null, at the end, reads as `off`. Numbers between are taken, and
 *   read as precisely as the positions are; of whole ones, whole numbers alone. */
export const range = ({ label, start, positions, off = "off" }) => {
  const numbers = positions.filter((it) => it !== null);
  const digits = Math.max(...numbers.map((it) => `${it}`.split(".")[1]?.length ?? 0)); // after the point
  return {
    start,
    takes: (value) => (value === null ? numbers.length < positions.length
      : value >= numbers[0] && value <= numbers.at(-1) && Number[digits ? "isFinite" : "isInteger"](value)),
    make({ onInput, onSettle }) {
      const out = h("output", { "aria-hidden": "true" });
      const input = h("input", {
        type: "range", max: positions.length - 1,
        oninput: () => onInput(positions[input.value]), onchange: onSettle,
      });
      return {
        node: h("div", { class: "lm-field" }, h("label", null, label, input), out),
        show(value) {
          const away = numbers.map((it) => Math.abs(it - value));
          input.value = value === null ? numbers.length : away.indexOf(Math.min(...away));
          out.textContent = value === null ? off : +value.toFixed(digits);
          set(input, { "aria-valuetext": out.textContent });
        },
      };
    },
  };
};

/** A setting without a control: a whole number from 0 and below `count`, or null if it starts so. */
export const whole = (count, start = 0) => ({
  start,
  takes: (value) => (value === null ? start === null : Number.isInteger(value) && value >= 0 && value < count),
});

/** A list to choose from. @param {{label: string, start: string, choices: Object<string, string>}} options */
export const select = ({ label, start, choices }) => ({
  start,
  takes: (value) => Object.hasOwn(choices, value),
  make({ onInput, onSettle }) {
    const options = Object.entries(choices).map(([value, text]) => h("option", { value }, text));
    const input = h("select", { onchange: () => { onInput(input.value); onSettle(); } }, options);
    return {
      node: h("div", { class: "lm-field" }, h("label", null, label, input)),
      show(value) { input.value = value; },
    };
  },
});

/** @param {{label: string, start: boolean}} options */
export const checkbox = ({ label, start }) => ({
  start,
  takes: (value) => typeof value === "boolean",
  make({ onInput, onSettle }) {
    const input = h("input", { type: "checkbox", style: CHECK, onchange: () => { onInput(input.checked); onSettle(); } });
    return {
      node: h("div", { class: "lm-field" }, h("label", { style: ROW }, input, label)),
      show(value) { input.checked = value; },
    };
  },
});

/** A line of text. @param {{label: string, start: string, most: number}} options `most` characters. */
export const line = ({ label, start, most }) => ({
  start,
  takes: (value) => typeof value === "string" && value.length <= most,
  make({ onInput, onSettle }) {
    const input = h("input", {
      type: "text", style: TEXT, maxlength: most, dir: "auto", spellcheck: "false", autocomplete: "off",
      oninput: () => onInput(input.value), onchange: onSettle,
    });
    return {
      node: h("div", { class: "lm-field", style: "grid-column:1/-1" }, h("label", null, label, input)),
      show(value) { if (input.value !== value) input.value = value; },
    };
  },
});

export const button = (label, onclick) => h("button", { type: "button", onclick }, label);

const CHECK = "flex:none;width:24px;margin:0 8px 0 0";
const ROW = "display:flex;align-items:center"; // all of it can be hit, and words wrap beside the box
export const TEXT = "margin:0;padding:0 10px;border:1px solid var(--line);border-radius:8px;" +
  "background:var(--field);color:var(--ink)";
