// The picture as one SVG. What is forward has the accent color, what is backward another, and a ∂
// before its numbers.

import { s } from "../shared/dom.js";
import { words } from "./lexicon.js";
import { definition, num } from "./words.js";

/** Computed styles, not attributes, are what an export writes out. */
export const STYLE = ".lm{--grad:#a84300}@media screen{.lm[data-lm-theme=dark]{--grad:#ff9e64}}" +
  ".lm svg .back{fill:var(--grad);font-weight:650}.lm svg .fore{fill:var(--accent);font-weight:650}.lm svg .open{font-weight:400}";
const INK = "var(--ink)", SOFT = "var(--soft)";

const cut = (words, room) => (words.length * 7.3 <= room ? words : `${words.slice(0, Math.max(room / 7.3 - 1, 1))}…`);

/** @returns {SVGElement[]} everything that stands still while the pointer moves. */
export function picture({ nodes, step, start, now, pinned }, { edges, list }) {
  const late = step > start;
  const acting = late ? "var(--grad)" : "var(--accent)", tone = late ? "back" : "fore";
  const dim = (clear) => (!pinned || clear ? null : 0.35);

  function box(it) {
    const { op, name, x, y, width, height, known, open, ways } = it;
    const text = (right, down, words, more) => s("text", { x: x + right, y: y + down, ...more }, words);
    const strong = { class: "strong" }, end = { class: "soft", "text-anchor": "end" };
    const symbol = it.number === undefined ? words.operations[op]?.[1] : `**${num(it.number)}`;
    const active = it === now, output = !it.users.length;
    return s("g", { opacity: dim(ways || active) },
      s("rect", {
        x, y, width, height, rx: symbol ? 6 : 14, class: symbol ? "paper" : "none",
        stroke: active ? acting : output || ways ? INK : SOFT,
        "stroke-width": active || it === pinned ? 3 : output ? 2 : 1,
        "stroke-dasharray": known ? null : "4 3",
      }),
      active && text(width - 8, list ? 37 : -6, words.acting[+late], { ...end, class: tone }),
      text(8, height < 46 ? 27 : 17, cut(list ? definition(it) : symbol ?? name, width - 20), strong),
      symbol && !list && text(width - 8, 17, cut(name, width - 22 - symbol.length * 7.5), end),
      known && height > 46 && text(8, 36, num(it.value)),
      known && it.odd && text(width - 8, list ? 17 : 36, "!", { ...end, ...strong }),
      it.shown && text(list ? 86 : 8, list ? 36 : 53, `∂ ${num(it.grad)}${open ? " …" : ""}`,
        { class: open ? "back open" : "back" }));
  }
  /** An edge, thick while something passes it; before its end its local derivative, once that was needed. */
  function edge({ from, to, slot, d, end: [x, y] }) {
    const active = to === now && (!late || from.needs);
    const marked = from.ways && to.ways;
    const stroke = active ? acting : marked ? INK : SOFT;
    const passed = !list && from.needs && to.done && num(to.slopes[slot]);
    const width = passed && passed.length * 6.8 + 4, opacity = dim(marked || active);
    lines.push(s("g", { opacity }, s("path", { d, fill: "none", stroke, "stroke-width": active || marked ? 2.5 : 1.2 }),
      s("circle", { cx: x, cy: y, r: 3, fill: stroke })));
    return passed && s("g", { opacity },
      s("rect", { class: "paper", x: x - 8 - width, y: y - 9, width, height: 17 }),
      s("text", { x: x - 10, y: y + 4, "text-anchor": "end", class: active ? tone : "" }, passed));
  }
  const lines = [], labels = edges.map(edge);
  return [lines, labels, nodes.map(box)];
}
