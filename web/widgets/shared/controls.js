// Native form controls with a label and a read-out. Each is {node, show(value)}.

import { h, set } from "./dom.js";

/**
 * @param {{label: string, positions: (number | null)[], off: string,
 *   onInput: (value) => void, onSettle: () => void}} options positions are the values in order;
 *   null, at the end, reads as `off`.
 */
export function range({ label, positions, off = "off", onInput, onSettle }) {
  const out = h("output", { "aria-hidden": "true" });
  const input = h("input", {
    type: "range", max: positions.length - 1,
    oninput: () => onInput(positions[input.value]), onchange: onSettle,
  });
  return {
    node: h("div", { class: "lm-field" }, h("label", null, label, input), out),
    show(value) {
      input.value = nearest(positions, value);
      out.textContent = value ?? off;
      set(input, { "aria-valuetext": out.textContent });
    },
  };
}

/** @param {{label: string, choices: Object<string, string>, onInput: (value) => void, onSettle}} options */
export function select({ label, choices, onInput, onSettle }) {
  const options = Object.entries(choices).map(([value, text]) => h("option", { value }, text));
  const onchange = () => { onInput(input.value); onSettle(); };
  const input = h("select", { onchange }, options);
  return {
    node: h("div", { class: "lm-field" }, h("label", null, label, input)),
    show(value) { input.value = value; },
  };
}

/** @param {{label: string, onInput: (value: boolean) => void, onSettle}} options */
export function checkbox({ label, onInput, onSettle }) {
  const onchange = () => { onInput(input.checked); onSettle(); };
  const input = h("input", { type: "checkbox", style: "width:24px;margin:0", onchange });
  return {
    node: h("div", { class: "lm-field" }, h("label", null, input, label)),
    show(value) { input.checked = value; },
  };
}

export const button = (label, onclick) => h("button", { type: "button", onclick }, label);

/** Where a value lies among positions. */
function nearest(positions, value) {
  if (value === null) return positions.length - 1;
  const away = positions.map((it) => (it === null ? Infinity : Math.abs(it - value)));
  return away.indexOf(Math.min(...away));
}
