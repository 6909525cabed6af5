// Graph: forward and backward pass of an expression that the reader types, step by step.

import { button } from "./shared/controls.js";
import { h } from "./shared/dom.js";
import { player } from "./shared/player.js";
import { widget } from "./shared/widget.js";
import { agree, backward, difference, forward, reach } from "./graph/evaluate.js";
import { expressionField, isSize, isValues, numberField } from "./graph/inputs.js";
import { layout } from "./graph/layout.js";
import { say, words } from "./graph/lexicon.js";
import { parse } from "./graph/parse.js";
import { picture, STYLE } from "./graph/picture.js";
import { walk } from "./graph/walk.js";
import { alternative, byPaths, definition, described, num, spoken, told, verdict } from "./graph/words.js";

const isRate = (it) => isSize(it) && it > 0;

const fields = () => ({
  expression: expressionField("a*b"),
  values: { start: {}, takes: isValues },
  step: { start: null, takes: (it) => it === null || (Number.isInteger(it) && it >= 0) },
  overwrite: { start: false, takes: (it) => it === !!it },
  learning_rate: { start: 0.1, takes: isRate },
  pinned: { start: null, takes: (it) => it === null || typeof it === "string" },
});

/** What the picture shows, from the settings. */
function compute(settings, defaults) {
  const { values, overwrite, expression } = settings;
  const nodes = parse(expression), variables = nodes.filter(({ op }) => op === "variable");
  variables.forEach((it, i) => { it.value = Object.hasOwn(values, it.name) ? values[it.name] : defaults[i]; });
  for (const it of variables) it.difference = difference(nodes, it);
  const value = forward(nodes);
  const inner = nodes.filter(({ args }) => args.length), back = inner.filter(({ needs }) => needs).reverse();
  const start = inner.length + 1, last = start + back.length + 1, step = Math.min(settings.step ?? last, last);
  backward(nodes, back, overwrite);
  for (const it of variables) {
    it.gradient = it.grad;
    it.agrees = agree(it.grad, it.difference, value);
  }
  const done = back.slice(0, Math.max(step - start, 0));
  const pushes = backward(nodes, done, overwrite), pinned = nodes.find(({ name }) => name === settings.pinned);
  reach(nodes, pinned);
  for (const it of nodes) {
    it.known = inner.indexOf(it) < step;
    it.shown = step >= start && it.needs;
    it.open = it.users.some(([by]) => by.needs && !by.done);
  }
  return {
    ...settings, nodes, variables, value, pushes, pinned, step, start, last, out: nodes.at(-1).name,
    now: step < start ? inner[step - 1] : step < last && done.at(-1),
  };
}

const build = ({ data: defaults, view, signal, tip, say: announce }) => {
  let data = compute(view.get(), defaults), rows = [], shape;

  const time = player({
    name: "step", last: () => data.last, signal, every: 1200,
    view: {
      ...view,
      get: () => data,
      set(_, to) {
        data.step = to;
        view.set("step", to < data.last ? to : null);
      },
    },
  });
  const choice = h("select", {
    "aria-label": words.examples[0][0],
    onchange() {
      view.assign({ expression: choice.value, step: null, pinned: null });
      choice.value = "";
    },
  }, words.examples.map(([it, value]) => h("option", { value }, it)));
  const overwrite = button("", () => view.assign({ overwrite: !data.overwrite }));
  time.node.append(overwrite, choice);

  const move = (values) => ({ ...view.get().values, ...values });
  const inputs = h("div", { class: "lm-controls", role: "group", "aria-label": words.inputs });
  /** A field for each variable, made anew with the expression. */
  function show() {
    if (data.expression !== shape) {
      shape = data.expression;
      rows = data.variables.map(({ name }) => numberField(name, isSize, (x) => view.set("values", move({ [name]: x })), view.settle, true));
      inputs.replaceChildren(...rows.map(({ node }) => node));
    }
    data.variables.forEach((it, i) =>
      rows[i].show(it.value, it.shown && !it.open ? verdict(it) : ""));
  }
  const rate = numberField(words.rate, isRate, (x) => view.set("learning_rate", x), view.settle);
  function downhill() {
    const { out, value: before } = data;
    const to = data.variables.map(({ name, value, gradient }) =>
      [name, +(value - data.learning_rate * gradient).toPrecision(6)]);
    const lost = to.find(([, x]) => !isSize(x));
    if (lost) return announce(say("nograd", lost[0]));
    view.assign({ values: move(Object.fromEntries(to)) });
    const after = compute(view.get(), defaults).value;
    announce(say("moved", out, num(before), num(after)));
  }
  const lines = h("div", { style: "white-space:pre-wrap;overflow-wrap:anywhere" });

  function point(i) {
    const it = data.nodes[i];
    if (it) tip.show(described(it, data.out), it.x, it.y);
    else tip.hide();
  }
  const cells = walk({
    label: words.cells,
    describe: (i) => spoken(data.nodes[i], data.out),
    onPoint: point,
    onMove(i) {
      point(i);
      announce(spoken(data.nodes[i], data.out));
    },
    onPin(i) {
      const it = data.nodes[i];
      view.assign({ pinned: it && it !== data.pinned ? it.name : null });
    },
  });
  return {
    under: [h("style", null, STYLE)],
    above: [time.node],
    over: [cells.node],
    below: [lines, inputs,
      h("div", { class: "lm-controls", style: "align-items:end" }, rate.node, button(words.downhill, downhill))],
    table: () => ({
      caption: data.expression,
      head: words.head,
      rows: data.nodes.map((it) => [definition(it), it.known ? num(it.value) : "", it.shown ? num(it.grad) : "",
        (it.slopes ?? []).map(num).join(", ")]),
    }),
    draw(now, changed, width) {
      data = compute(now, defaults);
      const { nodes } = data, place = layout(nodes, width), { height } = place;
      cells.place(nodes, height);
      point();
      time.update();
      overwrite.textContent = words.overwrite[+now.overwrite];
      show();
      rate.show(now.learning_rate);
      const [caption, equations] = told(data);
      lines.textContent = [...equations, ...byPaths(data)].join("\n");
      lines.style.minHeight = `${data.now ? 84 : 0}px`;
      return { height, alt: alternative(data, caption), caption, still: picture(data, place) };
    },
  };
};

export default widget({
  name: "graph",
  label: "Computation graph",
  title: "How does each number get its gradient?",
  intro: "Type an expression and play: values go forward, gradients ∂ back. Click a box for its paths.",
  call: "Graph(",
  read({ defaults }, model) {
    Object.assign(words, model.get("lexicon"));
    return defaults.data;
  },
  fields,
  build,
});
