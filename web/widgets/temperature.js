// Temperature: what a teacher says besides the right answer, and how that pulls at a student.

import { button, checkbox, range, select, whole } from "./shared/controls.js";
import { h, times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { playing } from "./shared/player.js";
import { quoted, shortened } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { layout } from "./temperature/layout.js";
import { LAST, measure, prepare, TEMPERATURES } from "./temperature/maths.js";
import { picture } from "./temperature/picture.js";
import { about, alternative, coarse, effect, lengthsAt, plain, progressAt, signed } from "./temperature/words.js";

const MOST = 20; // what a hand adds to a logit, or takes from it
const RATES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

const isList = (value, length, test) => Array.isArray(value) && value.length === length && value.every(test);

/** What is not there at first. */
const later = (field) => ({
  ...field,
  make(hear) {
    const { node, show } = field.make(hear);
    return { node, show(value, now) { show(value); node.hidden = now.show === FIRST; } };
  },
});
const FIRST = "targets";

function fields({ count, n, names, best }) {
  const options = times(count, (i) => plain(names[i] ?? `${i + 1}`));
  const { make } = select({ label: "Example", choices: options });
  const { takes } = whole(count), isClass = whole(n).takes;
  const isMove = (it) => isList(it, 3, Number.isFinite) && takes(it[0]) && isClass(it[1]) && Math.abs(it[2]) <= MOST;
  return {
    labels: { start: best, takes: (value) => isList(value, count, isClass) },
    examples: { start: names, takes: (value) => JSON.stringify(value) === JSON.stringify(names) },
    example: {
      start: 0,
      takes,
      make: count > 1 && (({ onInput, ...rest }) => make({ onInput: (value) => onInput(+value), ...rest })),
    },
    temperature: range({ label: "Temperature T", start: 2, positions: TEMPERATURES }),
    show: select({ label: "Show", start: FIRST, choices: { [FIRST]: "soft targets", all: "gradient and training, too" } }),
    scaled: later(checkbox({ label: "L_d times T²", start: true })),
    alpha: later(range({ label: "Weight α of L_d", start: 1, positions: times(21, (i) => i / 20) })),
    learning_rate: later(range({ label: "Learning rate", start: 1, positions: RATES })),
    pinned: whole(n, null),
    moves: { start: [], takes: (value) => isList(value, value?.length, isMove) },
    step: later(range({ label: "Gradient steps", start: 0, positions: times(LAST + 1, (i) => i) })),
    exact: { start: false, takes: (value) => typeof value === "boolean" },
  };
}

const build = ({ data: held, view, controls, tip, say, signal }) => {
  let data, size;
  /** Of the moves, those of the picked class, or the others. */
  const moves = (own) => data.moves.filter(([example, index]) => own === (example === data.example && index === data.pinned));
  const hand = range({ label: " ", positions: times(4 * MOST + 1, (i) => i / 2 - MOST) }).make({
    onInput: (amount) => view.set("moves", [...moves(false), ...(amount ? [[data.example, data.pinned, amount]] : [])]),
    onSettle: view.settle,
  });
  hand.node.style.flex = "1 1 260px";
  const now = () => view.get().step, go = (to) => view.set("step", to);
  const play = playing({ view, now, go, last: () => LAST, signal, every: 250 });
  const step = button("Step", () => {
    play.pause();
    if (now() < LAST) go(now() + 1);
    view.settle();
  });
  const { node } = Object.fromEntries(controls).temperature;
  node.style.flex = 1;
  const text = h("p", { dir: "auto" }), training = h("div", { class: "lm-buttons" }, step, play.node, hand.node);

  /** A grid whose cells say what is at their place. `words` are for a row and a column, `at` is where a tip stands. */
  const places = (label, columns, words, at, onPin) => grid({
    label, rows: 1, columns,
    last: () => columns - 1,
    describe: (...cell) => words(...cell).join(", "),
    onPoint(...cell) {
      tip.hide();
      if (cell.length) tip.show(words(...cell).join("\n"), ...at(...cell));
    },
    onMove: (...cell) => say(words(...cell).join(", ")),
    onPin(...cell) {
      onPin(...cell);
      view.settle();
    },
  });
  const chart = (k, label, columns, words, onPin) => places(label, columns, (_, i) => words(data, i),
    (_, i) => [size.charts[k].x + (i / (columns - 1)) * size.charts[k].width, size.charts[k].y + 76],
    (_, i) => onPin(i));
  const grids = [
    places("Classes", 1, (row) => about(data, data.rows[row]), (row) => [size.left, size.top + row * size.tall],
      (row) => view.set("pinned", data.rows[row].index ?? null)),
    chart(0, "Gradient by T", TEMPERATURES.length, lengthsAt, (i) => view.set("temperature", TEMPERATURES[i])),
    chart(1, "KL by step", LAST + 1, progressAt, (i) => view.set("step", i)),
  ];
  return {
    above: [h("div", { class: "lm-buttons" }, node), training, text],
    over: grids.map(({ node }) => node),
    table: () => ({
      caption: `Logits, soft targets, gradient at T = ${data.at}`,
      head: ["class", "z teacher", "z student", "t", "s", "gradient", coarse(data)],
      rows: data.rows.map(({ index, name, zT, zS, t, s, g, first }) => [
        ...(index === undefined ? [name, "", ""] : [shortened(name, 40), signed(zT), signed(zS)]),
        ...[t, s, g, first].map(signed)]),
    }),
    draw(now, _, width) {
      data = measure(held, now);
      const few = now.show === FIRST;
      size = layout(width, data.rows.length, few);
      training.style.display = few ? "none" : "";
      text.textContent = plain(data.name);
      hand.node.firstChild.firstChild.data = `Move the logit of ${quoted(held.classes[data.pinned], 14)}`;
      hand.show(moves(true)[0]?.[2] ?? 0);
      play.update();
      grids[0].place({ x: 0, y: size.top, width, height: size.bottom - size.top }, { rows: data.rows.length, columns: 1 });
      size.charts.forEach(({ x, y, width, height }, i) => {
        const half = width / (i ? LAST : 40) / 2; // a column lies around its place
        grids[i + 1].node.hidden = few;
        grids[i + 1].place({ x: x - half, y, width: width + 2 * half, height });
      });
      return { height: size.height, alt: alternative(data), caption: effect(data), still: picture(size, data) };
    },
  };
};

export default widget({
  name: "temperature",
  label: "Teacher and student",
  title: "What does the teacher know besides the right answer?",
  intro: "Drag T to the right: the wrong classes become visible, and the teacher’s opinion of them.",
  call: "Temperature(teacher, student, classes, ",
  read: prepare,
  fields,
  build,
});
