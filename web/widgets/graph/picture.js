// The picture as one SVG. What is forward has the accent color, what is backward another, and a ∂
// before its numbers.

import { h, s } from "../shared/dom.js";
import { min } from "./evaluate.js";
import { words } from "./lexicon.js";
import { definition, num } from "./words.js";

const INK = "var(--ink)", SOFT = "var(--soft)";

const pen = h("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";
const span = (words) => pen.measureText(words).width;
/** A name as far as it fits: its both ends, since many differ in the last letter; a number's first digits. The tip has all of it. */
const cut = ({ name, needs }, room, k = 9, it = `${name.slice(0, k)}…${needs ? name.slice(-k) : ""}`) =>
  (span(name) * 1.2 <= room ? name : k > 1 && span(it) * 1.2 > room ? cut({ name, needs }, room, k - 1) : it);

/** A number, or a few words, condensed where they are too wide. */
const text = (x, y, words, room, look) =>
  s("text", { x, y, textLength: span(words) > room ? room : null, lengthAdjust: "spacingAndGlyphs", ...look }, words);

/** @returns {SVGElement[]} everything that stands still while the pointer moves. */
export function picture({ nodes, step, start, now, pin }, { edges, gap, across }) {
  const late = step > start;
  const acting = late ? "var(--grad)" : "var(--accent)", tone = late ? "back" : "fore";
  const dim = (clear) => (!pin || clear ? null : 0.35);

  function box(it) {
    const { op, x, y, width, height, known, waits, ways } = it;
    const room = width - 12, left = x + 6, right = x + width - 6;
    const strong = { class: "strong" }, end = { class: "soft", "text-anchor": "end" };
    const symbol = it.number === undefined ? words.operations[op]?.[1] : `**${num(it.number)}`;
    const active = it === now, output = !it.users.length;
    return s("g", { opacity: dim(ways || active) },
      s("rect", {
        x, y, width, height, rx: symbol ? 6 : 14, class: symbol ? "paper" : "none",
        stroke: active ? acting : output || ways ? INK : SOFT,
        "stroke-width": active || it === pin ? 3 : output ? 2 : 1,
        "stroke-dasharray": known ? null : "4 3",
      }),
      active && text(right, y - 6, words.acting[+late], room, { ...end, class: tone }),
      text(left, y + (height < 46 ? 27 : 17), symbol ?? cut(it, room), room, strong),
      symbol && text(right, y + 17, cut(it, room - span(symbol) - 6), room, end),
      known && height > 46 && text(left, y + 36, num(it.result), room - (it.trouble ? 10 : 0)),
      known && it.trouble && text(right, y + 36, "!", room, { ...end, ...strong }),
      it.shown && text(left, y + 53, `∂ ${num(it.grad)}${waits ? " …" : ""}`, room, { class: waits ? "soon" : "back" }));
  }
  /** An edge, thick while something passes it; before its end its local derivative, once that was needed. */
  function edge({ from, to, slot, d, end: [x, top] }) {
    const active = to === now && (!late || from.needs);
    const marked = from.ways && to.ways;
    const stroke = active ? acting : marked ? INK : SOFT;
    const passed = from.needs && to.done && num(to.slopes[slot]);
    const room = across ? gap - 11 : 36, width = passed && min(span(passed), room), opacity = dim(marked || active);
    const right = across ? x - 8 : x + width / 2, y = across ? top : top - 11;
    lines.push(s("path", { opacity, d, fill: "none", stroke, "stroke-width": active || marked ? 2.5 : 1.2 }));
    return passed && s("g", { opacity },
      s("rect", { class: "paper", x: right - 1 - width, y: y - 9, width: width + 2, height: 17 }),
      text(right, y + 4, passed, room, { "text-anchor": "end", class: active ? tone : "" }));
  }
  const lines = [], labels = edges.map(edge);
  return [lines, labels, nodes.map(box)];
}
