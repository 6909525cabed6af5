// A view as SVG: the marks that Python has laid out (lmcourse/widgets/anatomy_view.py).

import { PARTS } from "../shared/colors.js";
import { s } from "../shared/dom.js";

/** As in lmcourse/widgets/anatomy_svg.py. Computed styles, not attributes, are what an export writes out. */
export const STYLE = ".lm{--edge:light-dark(#59636e,#a5afbb);--mark:light-dark(#a84300,#ff9e64)}.lm svg{" +
  "& :is(.name,.sign,.out){text-anchor:middle}& .sign{font-size:14px}& :is(.title,.shape,.out,.small){fill:var(--soft)}" +
  "& .title{font-size:max(11px,var(--small))}& :is(.shape,.small,.mark){font-size:var(--small)}& :is(.count,.times){font-weight:650}& .count{text-anchor:end}" +
  "& .small{font-weight:400}& .mark{fill:var(--mark);font-weight:650}& :is(.line,.bracket){fill:none;stroke:var(--edge);stroke-width:1.3}" +
  "& .head{fill:var(--edge)}& .frame{fill:var(--field);stroke:var(--line)}@media print{min-width:0!important}}" +
  ".lm-facts{min-width:0;& dl{margin:4px 0;display:grid;grid-template-columns:auto 1fr;gap:2px 10px;font-size:13px}& :is(dt,dd){margin:0}" +
  "& dt{color:var(--soft)}& dd{overflow-wrap:anywhere}& pre{margin:4px 0;padding:8px;font:12px/1.4 ui-monospace,monospace;overflow:auto;max-height:230px;" +
  "background:var(--field);color:var(--ink);border-radius:8px}& pre.sum{white-space:pre-wrap}& select{height:44px}}" +
  ".lm .lm-table{& *{white-space:normal;text-align:left;vertical-align:top}& tbody{overflow-wrap:anywhere}}" +
  "@media screen{.lm-sheet{position:sticky;bottom:0;z-index:2;max-height:45vh;overflow:auto;margin:0 -16px;padding:6px 16px;" +
  "background:var(--bg);border-block:3px solid var(--accent)}.lm:has(.lm-sheet) .lm-cell{scroll-margin:64px 0 50vh}}" +
  "@container(width<560px){.lm-facts dl{display:block;& dd{margin:0 0 4px}}.lm-stage{margin:0 -12px}}";

const edge = "var(--edge)";

function mark([kind, ...rest], selected) {
  if (kind === "path") return s("path", { d: rest[0], class: rest[1] });
  if (kind === "text") return s("text", { x: rest[0], y: rest[1], class: rest[3] }, rest[2]);
  const [block, x, y, width, height, part, look] = rest, at = { x, y, width, height };
  const pinned = block === selected ? { stroke: "var(--ink)", "stroke-width": 2.5 }
    : look && { stroke: "var(--mark)", "stroke-width": 2, "stroke-dasharray": look === "gone" ? "4 3" : null };
  if (kind === "frame") return s("rect", { ...at, rx: 10, class: "frame", style: pinned && "stroke:var(--ink);stroke-width:2.5px" });
  const rx = kind === "circle" ? width / 2 : 6, color = PARTS[part];
  return [s("rect", { ...at, rx, class: "paper" }),
    s("rect", { ...at, rx, fill: color ?? "none", "fill-opacity": 0.3, stroke: color ?? edge, "stroke-width": 1.2, ...pinned })];
}

/** @returns {SVGElement} a view's marks, shifted and scaled. */
export const picture = (marks, selected, x, y, scale) =>
  s("g", { transform: `translate(${x} ${y}) scale(${scale})` }, ...marks.map((it) => mark(it, selected)));

/** The blocks of a view in rows, from top to bottom, as boxes on the stage. */
export function rows(marks, x, y, scale, model) {
  const boxes = marks.filter(([kind]) => /box|circle|frame/.test(kind)).map(([kind, block, left, top, width, height]) => ({
    block, model, x: x + left * scale, y: y + top * scale, width: width * scale, height: (kind === "frame" ? 19 : height) * scale,
  })).sort((a, b) => a.y - b.y || a.x - b.x);
  const found = [];
  for (const it of boxes) {
    const last = found.at(-1);
    if (last && it.y + it.height / 2 < last[0].y + last[0].height) last.push(it);
    else found.push([it]);
  }
  return found.map((row) => row.sort((a, b) => a.x - b.x));
}
