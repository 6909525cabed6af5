// GradientFlow: how much of a loss at step T reaches the state at each step t before it.

import { unpack } from "./shared/arrays.js";
import { buttons } from "./shared/buttons.js";
import { range, select } from "./shared/controls.js";
import { h, s, set, times } from "./shared/dom.js";
import { frame, onWidth } from "./shared/frame.js";
import { grid } from "./shared/grid.js";
import { settings } from "./shared/settings.js";
import { valuesTable } from "./shared/table.js";
import { LANE, layout } from "./gradient_flow/layout.js";
import { backward, flow, forward, KINDS, prepare, strip } from "./gradient_flow/maths.js";
import { crosshair, picture } from "./gradient_flow/picture.js";
import { across, alternative, at, effect, what } from "./gradient_flow/words.js";

const NAME = "gradient-flow";
const ACTIVATIONS = { tanh: "tanh", relu: "ReLU", linear: "linear" };
const CLIPS = [...[0.01, 0.1, 1, 10, 100].flatMap((x) => [x, 2 * x, 5 * x]), 1000, null];

/** Which settings a cell's forward pass depends on. */
const NEEDS = {
  RNN: ["spectral_radius", "activation"],
  LSTM: ["spectral_radius", "forget_bias"],
  GRU: ["spectral_radius"],
};

/** Each setting: its label, its start, and its values in order, or its choices by name. */
function fields(time) {
  const every = (first, last, step) =>
    times(Math.round((last - first) / step) + 1, (i) => Number((first + i * step).toFixed(2)));
  return {
    spectral_radius: { label: "Spectral radius ρ", start: 1, positions: every(0.1, 3, 0.05) },
    activation: { label: "RNN’s activation", start: "tanh", choices: ACTIVATIONS },
    forget_bias: { label: "LSTM’s forget bias", start: 1, positions: every(-2, 6, 0.5) },
    truncation: { label: "Truncate after", start: null, positions: [...every(1, time - 1, 1), null] },
    clip: { label: "Clip ‖G‖ at θ", start: null, positions: CLIPS },
    step: { label: "Loss at step T", start: null, positions: [...every(1, time - 1, 1), null], off: time },
  };
}

function render({ model, el }) {
  const { root, signal, end, look } = frame(el, "Gradient flow through an RNN, an LSTM and a GRU");
  let size = null;
  let wanted = null; // settings that changed since the last picture
  const network = prepare(unpack(model.get("arrays"), model.get("index")));
  const all = fields(network.time);
  const view = settings(model, all, signal, (changed) => update(changed));
  const controls = Object.entries(all).map(([name, field]) => [name, (field.choices ? select : range)({
    ...field,
    onInput: (value) => view.set(name, value),
    onSettle: () => view.settle(),
  })]);
  const compute = computer(network);
  const { stage, show } = parts(root, network.time, view, model, signal, controls);

  function draw() {
    if (signal.aborted) return;
    const changed = wanted ?? [];
    wanted = null;
    show(compute(view.get(), changed), size);
  }

  function update(changed) {
    if (!wanted) requestAnimationFrame(draw);
    wanted = [...(wanted ?? []), ...changed];
    showSettings();
  }

  function showSettings() {
    for (const [name, control] of controls) control.show(view.get()[name]);
  }

  showSettings();
  onWidth(stage, signal, (width) => {
    look();
    if (size?.width === width) return;
    size = layout(width);
    draw();
  });
  return end;
}

/** Computes what the picture shows; passes through a network only where a setting asks for it. */
function computer(network) {
  const tapes = {}, strips = {};
  return (now, changed) => {
    const T = now.step ?? network.time;
    const flows = KINDS.map((kind) => {
      const stale = !tapes[kind] || changed.some((name) => NEEDS[kind].includes(name));
      if (stale) tapes[kind] = forward(network, kind, now);
      if (stale || changed.includes("truncation") || changed.includes("clip")) {
        strips[kind] = strip(tapes[kind], now);
      }
      const full = backward(tapes[kind], T).norms;
      return { kind, strip: strips[kind], full, ...flow(tapes[kind], T, now) };
    });
    return { ...now, time: network.time, T, flows };
  };
}

/** Builds what stands under the root; `show` takes a picture's data and its layout. */
function parts(root, time, view, model, signal, controls) {
  const id = Math.random().toString(36).slice(2);
  const still = s("g"), moving = s("g");
  const svg = s("svg", { role: "img" }, still, moving);
  const tip = h("div", { class: "lm-tip", hidden: "", "aria-hidden": "true" });
  const status = h("p", { role: "status", class: "lm-soft" });
  const caption = h("p");
  let data = null, size = null;

  const say = (text) => { status.textContent = text; };
  const cross = (t) =>
    moving.replaceChildren(t >= 1 && t <= data.T ? crosshair(size.chart, data, t) : "");
  function point(words, box, x, y) {
    tip.hidden = !words;
    if (!words) return cross(0);
    tip.textContent = words;
    const left = Math.min(box.x + x * box.width + 12, size.width - tip.offsetWidth);
    const top = box.y + y * box.height - tip.offsetHeight - 10;
    set(tip, { style: `left:${Math.max(0, left)}px;top:${top}px` });
  }
  const grids = KINDS.map((kind, i) => {
    const about = (row, column) =>
      data && at(kind, row + 1, column, data.flows[i].strip[row * time + column], data.truncation);
    return grid({
      label: `${kind}: rows are the step T of the loss, columns the steps back`,
      rows: time, columns: time,
      last: (row) => row,
      describe: about,
      onPoint(row, column) {
        if (row === undefined) return point();
        point(about(row, column).replace(": ", ":\n"), size.panels[i], column / time, row / time);
        cross(row + 1 === data.T ? data.T - column : 0);
      },
      onMove: (row, column) => say(about(row, column)),
      onPin(row, column) {
        view.set("step", row + 1 === time ? null : row + 1);
        view.settle();
        say(about(row, column));
      },
    });
  });
  const told = (_, column) => data && across(data, column + 1);
  const tell = (row, column) => {
    cross(column + 1);
    say(told(row, column));
  };
  const curves = grid({
    label: "Curves: columns are the time steps",
    rows: 1, columns: time,
    last: () => data.T - 1,
    describe: told,
    onPoint(row, column) {
      if (row === undefined) return point();
      point(told(row, column).replace(/: |, (?=[A-Z])/g, "\n"), size.chart, column / time, 0.3);
      cross(column + 1);
    },
    onMove: tell,
    onPin: tell,
  });
  const table = valuesTable(() => ({
    caption: `‖∂L_T/∂h_t‖ for the loss at T = ${data.T}`,
    head: ["t", ...KINDS],
    rows: times(data.T, (i) => [i + 1, ...data.flows.map(({ norms }) =>
      what(norms[data.T - 1 - i], data.T - 1 - i, data.truncation))]),
  }));
  const call = "GradientFlow(network, ";
  const actions = buttons({ model, view, name: NAME, call, svg, say, signal, root });
  const nodes = [...grids, curves].map(({ node }) => node);
  const stage = h("div", { class: "lm-stage" }, svg, nodes, tip);
  root.append(
    h("p", { class: "lm-title" }, "How far back does the gradient reach?"),
    h("p", { class: "lm-soft" }, "Each row of a strip is a loss at step T. Click a row to see its curves."),
    h("div", { class: "lm-controls" }, controls.map(([, { node }]) => node)),
    stage, caption, status, actions.node, table.node);

  const show = (newData, newSize) => {
    [data, size] = [newData, newSize];
    set(svg, { viewBox: `0 0 ${size.width} ${size.height}`, "aria-label": alternative(data) });
    still.replaceChildren(...picture(size, data, id));
    cross(0);
    grids.forEach((it, i) => it.place(size.panels[i]));
    curves.place({ ...size.chart, height: size.chart.height + LANE });
    caption.textContent = effect(data);
    table.update();
    actions.update();
  };
  return { stage, show };
}

export default { render };
