// Words and boxes of a figure in SVG, in few letters.

import { h, s } from "./dom.js";
import { shortened } from "./tokens.js";

export const text = (x, y, words, look) => s("text", { x, y, ...look }, words);
/** Words in the soft color; `anchor` is "end", "middle" or nothing. */
export const note = (x, y, words, anchor) => text(x, y, words, { class: "soft", "text-anchor": anchor });
export const title = (x, y, words) => text(x, y, words, { class: "strong" });
export const rect = (x, y, width, height, look) => s("rect", { x, y, width, height, ...look });
/** A box in a color, light enough for text on it. */
export const tinted = (x, y, width, height, color) => rect(x, y, width, height,
  { rx: 6, fill: color, "fill-opacity": 0.16, stroke: color, "stroke-width": 1.5 });

let pen;
const known = new Map();

/** A token, cut so that it is not wider than so many pixels. */
export function fitted(token, width, size = 13) {
  const key = `${size} ${Math.round(width)} ${token}`;
  if (!known.has(key)) {
    pen ??= h("canvas").getContext("2d");
    pen.font = `${size}px system-ui, sans-serif`;
    let count = Math.max(1, Math.min(Math.floor(width / 4), token.length + 8)), words = shortened(token, count);
    while (count > 1 && pen.measureText(words).width > width) words = shortened(token, --count);
    known.set(key, words);
  }
  return known.get(key);
}
