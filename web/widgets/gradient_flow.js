// GradientFlow: how much of a loss at step T reaches the state at each step t before it.

import { range, select } from "./shared/controls.js";
import { times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { widget } from "./shared/widget.js";
import { LANE, layout } from "./gradient_flow/layout.js";
import { backward, flow, forward, KINDS, prepare, strip } from "./gradient_flow/maths.js";
import { crosshair, picture } from "./gradient_flow/picture.js";
import { across, alternative, at, effect, what } from "./gradient_flow/words.js";

const ACTIVATIONS = { tanh: "tanh", relu: "ReLU", linear: "linear" };
const CLIPS = [...[0.01, 0.1, 1, 10, 100].flatMap((x) => [x, 2 * x, 5 * x]), 1000, null];

/** Which settings a cell's forward pass depends on. */
const NEEDS = {
  RNN: ["spectral_radius", "activation"],
  LSTM: ["spectral_radius", "forget_bias"],
  GRU: ["spectral_radius"],
};

function fields({ time }) {
  const every = (first, last, step) =>
    times(Math.round((last - first) / step) + 1, (i) => Number((first + i * step).toFixed(2)));
  const early = [...every(1, time - 1, 1), null];
  return {
    spectral_radius: range({ label: "Spectral radius ρ", start: 1, positions: every(0.1, 3, 0.05) }),
    activation: select({ label: "RNN’s activation", start: "tanh", choices: ACTIVATIONS }),
    forget_bias: range({ label: "LSTM’s forget bias", start: 1, positions: every(-2, 6, 0.5) }),
    truncation: range({ label: "Truncate after", start: null, positions: early }),
    clip: range({ label: "Clip ‖G‖ at θ", start: null, positions: CLIPS }),
    step: range({ label: "Loss at step T", start: null, positions: early, off: time }),
  };
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

const build = ({ data: network, view, moving, tip, say, id }) => {
  const { time } = network;
  const compute = computer(network);
  let data = null, size = null;

  const cross = (t) =>
    moving.replaceChildren(t >= 1 && t <= data.T ? crosshair(size.chart, data, t) : "");
  function point(words, box, x, y) {
    if (words) tip.show(words, box.x + x * box.width, box.y + y * box.height);
    else {
      tip.hide();
      cross(0);
    }
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
  return {
    over: [...grids, curves].map(({ node }) => node),
    table: () => ({
      caption: `‖∂L_T/∂h_t‖ for the loss at T = ${data.T}`,
      head: ["t", ...KINDS],
      rows: times(data.T, (i) => [i + 1, ...data.flows.map(({ norms }) =>
        what(norms[data.T - 1 - i], data.T - 1 - i, data.truncation))]),
    }),
    draw(now, changed, width) {
      size = layout(width);
      data = compute(now, changed);
      const still = picture(size, data, id);
      cross(0);
      grids.forEach((it, i) => it.place(size.panels[i]));
      curves.place({ ...size.chart, height: size.chart.height + LANE });
      return { height: size.height, alt: alternative(data), caption: effect(data), still };
    },
  };
};

export default widget({
  name: "gradient-flow",
  label: "Gradient flow through an RNN, an LSTM and a GRU",
  title: "How far back does the gradient reach?",
  intro: "Each row of a strip is a loss at step T. Click a row to see its curves.",
  call: "GradientFlow(network, ",
  read: prepare,
  fields,
  build,
});
