// GradientFlow: how much of a loss at step T reaches the state at each step t before it.

import { button, range, select } from "./shared/controls.js";
import { h, times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { playing } from "./shared/player.js";
import { widget } from "./shared/widget.js";
import { LANE, layout } from "./gradient_flow/layout.js";
import { backward, flow, forward, KINDS, prepare, strip } from "./gradient_flow/maths.js";
import { crosshair, picture } from "./gradient_flow/picture.js";
import { across, alternative, at, caption, value } from "./gradient_flow/words.js";

const ACTIVATIONS = { tanh: "tanh", relu: "ReLU", linear: "linear" };
const CLIPS = [...[0.01, 0.1, 1, 10, 100].flatMap((x) => [x, 2 * x, 5 * x]), 1000, null];

/** Which settings a cell's forward pass depends on, beside the spectral radius. */
const NEEDS = { RNN: "activation", LSTM: "forget_bias" };

function fields({ time }) {
  const every = (first, last, step) =>
    times(Math.round((last - first) / step) + 1, (i) => Number((first + i * step).toFixed(2)));
  const early = [...every(1, time - 1, 1), null];
  const settings = {
    spectral_radius: range({ label: "Spectral radius ρ", start: 1, positions: every(0.1, 3, 0.05) }),
    activation: select({ label: "RNN’s activation", start: "tanh", choices: ACTIVATIONS }),
    forget_bias: range({ label: "LSTM’s forget bias", start: 1, positions: every(-2, 6, 0.5) }),
    truncation: range({ label: "Truncate after", start: null, positions: early }),
    clip: range({ label: "Clip ‖G‖ at θ", start: null, positions: CLIPS }),
    step: range({ label: "Loss at step T", start: null, positions: early, off: time }),
  };
  const names = Object.keys(settings);
  const before = { // the settings of the curves that were kept, in their order
    start: null,
    takes: (list) => list === null ||
      (list?.length === names.length && names.every((name, i) => settings[name].takes(list[i]))),
  };
  return { ...settings, before };
}

/** Computes what the picture shows; passes through a network only where a setting asks for it. */
function computer(network) {
  const tapes = {}, strips = {};
  const { time } = network;
  return (now, changed) => {
    const T = now.step ?? time;
    const has = (...names) => changed.some((name) => names.includes(name));
    const flows = KINDS.map((kind) => {
      const stale = !tapes[kind] || has("spectral_radius", NEEDS[kind]);
      if (stale) tapes[kind] = forward(network, kind, now);
      if (stale || has("truncation", "clip")) strips[kind] = strip(tapes[kind], now);
      const tape = tapes[kind];
      return { kind, strip: strips[kind], full: backward(tape, T).norms, ...flow(tape, T, now) };
    });
    return { ...now, time, T, cut: now.truncation ?? Infinity, flows };
  };
}

const build = ({ data: network, view, moving, controls, tip, say, signal }) => {
  const id = Math.random().toString(36).slice(2); // what SVG refers to is named once on a page
  const { time } = network;
  const compute = computer(network);
  let data = null, size = null, earlier = null;

  const cross = (t) =>
    moving.replaceChildren(t && t <= data.T ? crosshair(size.chart, data, t) : "");

  /** What follows the pointer: words at a share of a box's height, and a line at a time step. */
  const follow = (words, box, high, step) => (row, column) => {
    if (row === undefined) {
      tip.hide();
      return cross(0);
    }
    const { x, y, width, height } = box();
    tip.show(words(row, column).replace(/: |, (?=[A-Z])/g, "\n"), x + (column / time) * width, y + high(row) * height);
    cross(step(row, column));
  };
  const go = (row) => view.set("step", row + 1 === time ? null : row + 1);
  const play = playing({
    view, now: () => (view.get().step ?? time) - 1, go, last: () => time - 1, signal, every: 250,
    again: "Play from T = 1",
  });
  const keep = button("", () => {
    const { before, ...now } = view.get();
    view.assign({ before: before ? null : Object.values(now) });
  });
  const grids = KINDS.map((kind, i) => {
    const about = (row, column) =>
      data && at(kind, row + 1, column, data.flows[i].strip[row * time + column], data.cut);
    return grid({
      label: `${kind}: rows are the step T of the loss, columns the steps back`,
      rows: time, columns: time,
      last: (row) => row,
      describe: about,
      onPoint: follow(about, () => size.panels[i], (row) => row / time,
        (row, column) => (row + 1 === data.T ? data.T - column : 0)),
      onMove: (row, column) => say(about(row, column)),
      onPin(row, column) {
        go(row);
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
    onPoint: follow(told, () => size.chart, () => 0, (_, column) => column + 1),
    onMove: tell,
    onPin: tell,
  });
  const bias = Object.fromEntries(controls).forget_bias.node;
  bias.style.flex = "1 1 260px";
  return {
    above: [h("div", { class: "lm-buttons" }, bias, play.node, keep)],
    over: [...grids, curves].map(({ node }) => node),
    table() {
      const all = earlier ? [data, earlier] : [data];
      return {
        caption: `‖∂L_T/∂h_t‖, LSTM: (h, c), for the loss at T = ${all.map(({ T }) => T).join(", and before at T = ")}`,
        head: ["t", ...KINDS, ...(earlier ? KINDS.map((kind) => `${kind} before`) : [])],
        rows: times(Math.max(...all.map(({ T }) => T)), (i) =>
          [i + 1, ...all.flatMap((it) => KINDS.map((_, kind) => value(it, kind, i + 1)))]),
      };
    },
    draw({ before, ...now }, changed, width) {
      size = layout(width);
      if (changed.includes("before")) {
        earlier = before && computer(network)(Object.fromEntries(Object.keys(now).map((it, i) => [it, before[i]])), []);
        keep.textContent = before ? "Stop comparing" : "Keep curves to compare";
      }
      data = { ...compute(now, changed), earlier };
      const still = picture(size, data, id);
      cross(0);
      grids.forEach((it, i) => it.place(size.panels[i]));
      curves.place({ ...size.chart, height: size.chart.height + LANE });
      play.update();
      return { height: size.height, alt: alternative(data), caption: caption(data), still };
    },
  };
};

export default widget({
  name: "gradient-flow",
  label: "Gradient flow: RNN, LSTM, GRU",
  title: "How far back does the gradient reach?",
  intro: "Drag LSTM’s forget bias: how far back does its curve stay high? A row of a strip is one loss.",
  call: "GradientFlow(network, ",
  read: prepare,
  fields,
  build,
});
