// The root of every widget: its colors in light and dark, its keys, its end.

import { h } from "./dom.js";
import figure from "./figure.css";
import style from "./style.css";

/**
 * Appends a root to the host's element. It takes its colors from the luminance of the text around
 * it, and takes them anew when those change.
 *
 * @returns {{root: HTMLElement, signal: AbortSignal, end: () => void}} listeners take the signal;
 *   `end` takes everything away again.
 */
export function frame(el, label) {
  const stop = new AbortController();
  const { signal } = stop;
  // It inherits the host's color. A transition starts whenever that changes, whatever the cause.
  const look = () => { root.dataset.lmTheme = isLight(witness) ? "dark" : "light"; };
  const witness = h("span", { "aria-hidden": "true", style: WITNESS, ontransitionend: look });
  const root = h("div", {
    class: "lm", role: "group", "aria-label": label,
    "data-lm-suppress-shortcuts": "true", // JupyterLab's own: keys are ours here
    "data-prevent-swipe": "", // reveal.js
    onpointerenter: look,
    onkeydown(event) { if (event.key !== "Tab" && event.key !== "Escape") event.stopPropagation(); },
  }, h("style", null, style + figure));
  el.append(witness, root);
  look();
  return { root, signal, look, end() { stop.abort(); witness.remove(); root.remove(); } };
}

const WITNESS = "position:absolute;width:0;height:0;transition:color 1ms!important";

/** Calls back with an element's width, now and whenever it changes; not while it is hidden. */
export function onWidth(element, signal, callback) {
  const measure = () => { if (element.clientWidth) callback(element.clientWidth); };
  const observer = new ResizeObserver(measure);
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
  measure();
}

/** Whether an element's text is light, and so what is behind it dark. */
function isLight(element) {
  const pen = h("canvas", { width: 1, height: 1 }).getContext("2d");
  pen.fillStyle = getComputedStyle(element).color; // in whatever notation
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return 0.2 * red + 0.7 * green + 0.1 * blue > 140;
}
