// Pareto: models by cost and score, and those that no other one dominates.

import { select, whole } from "./shared/controls.js";
import { h, s } from "./shared/dom.js";
import { walk } from "./shared/walk.js";
import { widget } from "./shared/widget.js";
import { measure, prepare } from "./pareto/maths.js";
import { layout, mark, picture } from "./pareto/picture.js";
import { about, alternative, effect, exact, lines, plain, score } from "./pareto/words.js";

const REACH = 22; // pixels around a point that count as it

/** Boxes to check, one a name; each with its mark. @param {(i: number) => SVGElement} glyph of a name. */
const several = ({ label, names, glyph }) => ({
  start: names,
  takes: (value) => Array.isArray(value) && value.every((it) => names.includes(it)) && new Set(value).size === value.length,
  make({ onInput, onSettle }) {
    const inputs = names.map((name) => h("input", {
      type: "checkbox", style: "flex:none;width:24px;margin:0 4px 0 0",
      onchange() {
        onInput(names.filter((_, i) => inputs[i].checked));
        onSettle();
      },
    }));
    const fields = names.map((name, i) => h("label", { style: ROW }, inputs[i],
      s("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true", style: "flex:none;width:16px;margin-right:4px" }, glyph(i)), plain(name)));
    return {
      node: h("div", { class: "lm-field", role: "group", "aria-label": label, style: "grid-column:1/-1" },
        h("span", null, label), h("div", { style: "display:flex;flex-wrap:wrap;gap:0 18px" }, fields)),
      show(value) { inputs.forEach((it, i) => { it.checked = value.includes(names[i]); }); },
    };
  },
});
const ROW = "display:flex;align-items:center;min-height:44px";

function fields({ axes, scores, families, groups, points }) {
  const choices = (pairs) => Object.fromEntries(pairs.map(([key, label]) => [key, plain(label)]));
  const grey = { stroke: "var(--soft)" };
  return {
    axis: ordered({ label: "Cost", pairs: axes, choices: choices(axes) }),
    score: ordered({ label: "Score", pairs: scores, choices: choices(scores) }),
    families: several({ label: "Families", names: families, glyph: (i) => mark(0, 0, i, true) }),
    groups: several({ label: "Groups", names: groups, glyph: (i) => mark(0, 0, 0, i === 0, { ...grey, fill: i ? "var(--bg)" : "var(--soft)" }) }),
    pinned: whole(points.length, null),
  };
}
const ordered = ({ label, pairs, choices }) => select({ label, start: pairs[0][0], choices });

const build = ({ data, view, root, tip, say, signal }) => {
  let found, size, byPointer = false;
  const pick = (i) => {
    view.set("pinned", view.get().pinned === i ? null : i);
    view.settle();
  };
  const chart = walk({
    label: "Chart",
    describe: ({ it }) => about(data, found, it),
    onPoint() {},
    onMove: ({ it }) => say(about(data, found, it)),
    onPin({ it }) { if (!byPointer) pick(it.i); },
  });
  /** The point that is nearest to the pointer. */
  function under({ clientX, clientY }) {
    const box = chart.node.getBoundingClientRect(), by = chart.node.offsetWidth / box.width; // a slide is scaled
    const [x, y] = [(clientX - box.x) * by, (clientY - box.y) * by];
    const away = (it) => Math.hypot(it.x - x, it.y - y);
    return [...size.places].sort((a, b) => away(a) - away(b)).find((it) => away(it) <= REACH);
  }
  const listen = (type, f) => chart.node.addEventListener(type, f, { signal });
  const hint = (event) => {
    const at = under(event);
    if (at) tip.show(lines(data, found, at.it), at.x, at.y, at.y);
    else tip.hide();
  };
  listen("keydown", () => { byPointer = false; });
  listen("pointermove", hint);
  listen("pointerdown", (event) => {
    byPointer = true;
    hint(event);
  });
  listen("click", (event) => {
    const at = byPointer && under(event);
    if (at) pick(at.it.i);
  });
  listen("pointerleave", () => tip.hide());
  return {
    over: [chart.node],
    table: () => ({
      caption: `${plain(found.score)} and ${plain(found.cost)}; the front is computed from means`,
      head: ["Model", "Family", "Group", plain(found.cost), "Mean", "Standard deviation", "Seeds", "Front"],
      rows: found.shown.map((it) => [plain(it.name), plain(data.families[it.family]), plain(data.groups[it.group]),
        exact(it.cost), score(it.mean), it.seeds > 1 ? score(it.spread) : "–", it.seeds, it.best ? "yes" : "no"]),
    }),
    draw(now, _, width) {
      tip.hide();
      root.querySelector(".lm-title").textContent = plain(data.title);
      found = measure(data, now);
      size = layout(width, found, data);
      chart.place([size.places.map(({ it, x, y }) => ({ it, x: x - 11, y: y - 11, width: 22, height: 22 }))], size.bottom);
      return { height: size.height, alt: alternative(found), caption: effect(found), still: picture(size, data, found) };
    },
  };
};

export default widget({
  name: "pareto",
  label: "Pareto chart",
  title: "Pareto",
  intro: "Choose a cost, and hide families: which models are left on the front?",
  call: "Pareto(points, axes, scores, references=references, title=title, ",
  read: prepare,
  fields,
  build,
});
