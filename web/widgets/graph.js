// Graph: forward and backward pass of an expression that the reader types, step by step.

import { button, whole } from "./shared/controls.js";
import { h } from "./shared/dom.js";
import { player } from "./shared/player.js";
import { walk } from "./shared/walk.js";
import { widget } from "./shared/widget.js";
import { backward, difference, forward, max, min, reach, rounding } from "./graph/evaluate.js";
import { expressionField, isExpression, isSize, isValues, numberField, ROW } from "./graph/inputs.js";
import { layout } from "./graph/layout.js";
import { say, words } from "./graph/lexicon.js";
import { parse } from "./graph/parse.js";
import { picture } from "./graph/picture.js";
import { alternative, byPaths, definition, described, num, spoken, told, verdict } from "./graph/words.js";

const PLAIN = "white-space:pre-wrap;overflow-wrap:anywhere";
const isRate = (it) => isSize(it) && it > 0;

const fields = () => ({
  expression: { start: "a*b", takes: isExpression },
  values: { start: {}, takes: isValues },
  step: whole(Infinity, null),
  overwrite: { start: false, takes: (it) => it === !!it },
  learning_rate: { start: 0.1, takes: isRate },
  pinned: { start: null, takes: (it) => it === null || typeof it === "string" },
});

/** What the picture shows, from the settings. */
function compute(settings, defaults) {
  const { values, overwrite, expression } = settings;
  const nodes = parse(expression), variables = nodes.filter(({ op }) => op === "variable");
  variables.forEach((it, i) => { it.result = Object.hasOwn(values, it.name) ? values[it.name] : defaults[i]; });
  forward(nodes);
  const inner = nodes.filter(({ args }) => args.length), back = inner.filter(({ needs }) => needs).reverse();
  const start = inner.length + 1, last = start + back.length + 1, step = min(settings.step ?? last, last);
  backward(nodes, back);
  const noise = rounding(nodes);
  for (const it of variables) it.difference = difference(nodes, it, noise);
  const result = forward(nodes);
  backward(nodes, back, overwrite);
  for (const it of variables) it.gradient = it.grad;
  const done = back.slice(0, max(step - start, 0));
  const pushes = backward(nodes, done, overwrite), pin = nodes.find(({ name }) => name === settings.pinned);
  reach(nodes, pin);
  for (const it of nodes) {
    it.known = inner.indexOf(it) < step;
    it.shown = step >= start && it.needs;
    it.waits = it.users.some(([by]) => by.needs && !by.done);
  }
  return {
    ...settings, nodes, variables, result, pushes, pin, lost: settings.pinned, step, start, last, out: nodes.at(-1).name,
    now: step < start ? inner[step - 1] : step < last && done.at(-1),
  };
}

const build = ({ data: defaults, view, signal, svg, caption, tip, say: announce }) => {
  let data = compute(view.get(), defaults), rows = [], shape;

  const time = player({
    name: "step", last: () => data.last, signal, every: 1200, again: "Play",
    view: {
      ...view,
      get: () => data,
      set: (_, to) => view.set("step", (data.step = to) < data.last ? to : null),
    },
  });
  const field = expressionField((text) => view.set("expression", text), view.settle);
  const { examples } = words;
  const choice = h("select", {
    "aria-label": examples[0][0],
    onchange() {
      const [, expression, values] = examples[choice.value];
      if (expression) view.assign({ expression, values: move(values), step: null, pinned: null });
    },
  }, examples.map(([it], value) => h("option", { value }, it)));
  const overwrite = button("", () => view.assign({ overwrite: !data.overwrite }));
  time.node.append(overwrite, choice);

  const move = (values) => ({ ...view.get().values, ...values });
  const inputs = h("div", { style: "display:contents", role: "group", "aria-label": words.inputs });
  /** A field for each variable, made anew with the expression. */
  function show() {
    if (data.expression !== shape) {
      shape = data.expression;
      rows = data.variables.map(({ name }) => numberField(name, isSize, "size", (x) => view.set("values", move({ [name]: x })), view.settle, true));
      inputs.replaceChildren(...rows.map(({ node }) => node));
    }
    data.variables.forEach((it, i) =>
      rows[i].show(it.result, it.shown && !it.waits ? verdict(it) : ""));
  }
  const rate = numberField(words.rate, isRate, "positive", (x) => view.set("learning_rate", x), view.settle);
  function downhill() {
    const { out, result: before } = data;
    const to = data.variables.map(({ name, result, gradient }) =>
      [name, +(result - data.learning_rate * gradient).toPrecision(6)]);
    const lost = to.find(([, x]) => !isSize(x));
    if (lost) return announce(say("nograd", lost[0]));
    view.assign({ values: move(Object.fromEntries(to)) });
    announce(say("moved", out, num(before), num(compute(view.get(), defaults).result)));
  }
  const all = h("div", { style: PLAIN }), head = h("div", { style: PLAIN }, caption); // paths; what a step does

  function point(it) {
    if (it) tip.show(described(it, data.out), it.x, it.y, it.y + it.height);
    else tip.hide();
  }
  const cells = walk({
    label: words.cells,
    describe: (it) => spoken(it, data.out),
    onPoint: point,
    onMove(it) {
      point(it);
      announce(spoken(it, data.out));
    },
    onPin: (it) => view.assign({ pinned: it === data.pin ? null : it.name }),
  });
  return {
    under: [h("style", null, words["look"])],
    above: [time.node, head],
    over: [cells.node],
    below: [field.node, all, h("div", { class: "lm-controls" }, inputs,
      h("div", { style: ROW }, rate.node, button(words.downhill, downhill)))],
    table: () => ({
      caption: data.expression,
      head: words["head"],
      rows: data.nodes.map((it) => [definition(it), it.known ? num(it.result) : "", it.shown ? num(it.grad) : "",
        it.slopes?.map(num).join(", ")]),
    }),
    draw(now, changed, width) {
      data = compute(now, defaults);
      const { nodes } = data, place = layout(nodes, width), { height, wide } = place, stage = svg.parentNode;
      cells.place([nodes], height);
      // What does not fit scrolls in the stage, to the node whose turn it is. Elsewhere, tips may stand out.
      cells.node.style.minWidth = svg.style.minWidth = `${wide}px`;
      stage.style.overflow = wide > width ? "auto hidden" : "";
      const it = data.now || data.step && nodes.at(-1);
      if (/step|expr/.test(changed)) stage.scrollLeft = it ? it.x + (it.width - width) / 2 : 0;
      point();
      time.update();
      overwrite.textContent = words.overwrite[+now.overwrite];
      choice.value = max(0, examples.findIndex(([, it]) => it === now.expression));
      field.show(now.expression, /ate,pin/.test(changed)); // these two at once: a reset
      show();
      rate.show(now.learning_rate);
      all.textContent = byPaths(data).join("\n");
      head.style.minHeight = width < 560 ? "122px" : "61px"; // for what a step says: what follows does not jump
      const sentence = told(data);
      return { height, wide, alt: alternative(data, sentence), caption: sentence, still: picture(data, place) };
    },
  };
};

export default {
  render(host) {
    Object.assign(words, host.model.get("lexicon"));
    const [label, title, intro] = words.about, read = ({ defaults }) => defaults.data;
    return widget({ name: "graph", call: "Graph(", label, title, intro, read, fields, build }).render(host);
  },
};
