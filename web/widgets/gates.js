// Gates: what each unit of an LSTM or a GRU keeps, writes and shows while it reads a text.

import { button, range, select, whole } from "./shared/controls.js";
import { times } from "./shared/dom.js";
import { clamp, grid, KEYS } from "./shared/grid.js";
import { colors, heat } from "./shared/heat.js";
import { player } from "./shared/player.js";
import { diverging } from "./shared/ramp.js";
import { shortened } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { layout } from "./gates/layout.js";
import { prepare, reading } from "./gates/maths.js";
import { axis, picture } from "./gates/picture.js";
import { alternative, caption, fixed, left, named, NAMES, numbers, often, percent, place, token } from "./gates/words.js";

const COLORS = colors(diverging);

const texts = ({ gates, state, orders }) => ({
  number: "unit number", memory: "retention",
  ...Object.fromEntries(orders.map((it) => [it, named(it)])),
  keep: `mean of ${gates[0]}`, variance: `variance of ${state}`,
});

/** A slider through the tokens: readers count from 1, settings from 0. */
function tokens(time, field) {
  const { make } = range({ label: "Token", positions: times(time, (t) => t + 1) });
  return { ...field, make({ onInput, onSettle }) {
    const { node, show } = make({ onInput: (t) => onInput(t - 1), onSettle });
    return { node, show: (t) => show(t + 1) };
  } };
}

function fields(data) {
  const { time, units, held: { backward } } = data;
  const choice = (label, start, choices) => select({ label, start, choices });
  const directions = { forward: "forward", ...(backward && { backward: "backward" }) };
  return {
    sort: choice("Sort units by", "number", texts(data)),
    unit: whole(units, null),
    compare: whole(units, null),
    show: choice("Show", "unit", { unit: "one unit", "maps": "all units", "saturation": "saturation" }),
    direction: { ...choice("Reads", "forward", directions), ...(!backward && { make: null }) },
    step: tokens(time, whole(time, time - 1)),
    pin: whole(time, null),
  };
}

function build({ data: all, view, svg, moving, signal, tip, say }) {
  const { names, gates, time, units } = all;
  let data = null;

  const pinned = () => data.now.pin === data.now.step;

  /** What stands in a row of a map, at a token or in all of them, or with no name in a column of the curves; in lines. */
  function about(name, [row, t]) {
    const unit = data.order[row];
    return !name ? [place(data, t), ...data.shown.flatMap((unit) => [`unit ${unit}:`, ...numbers(data, t, unit)])]
      : data.maps ? [`unit ${unit} at ${place(data, t)}`, `${name} ${fixed(data.run.at(name, t, unit))}`]
      : [`unit ${unit}`, often(data.run, name, unit)];
  }

  function cells(name, i) {
    let at; // its cell: a row of the order and a token
    const timed = () => data.maps || !name;
    const real = (row, column) => [data.boxes[i].rows[0] + row, data.boxes[i].columns[0] + column];
    const choose = () => view.assign({ ...(timed() && { step: at[1] }), ...(name && { unit: data.order[at[0]] }) });
    const tell = () => say(about(name, at).join(", "));
    const it = grid({
      label: name ? `${NAMES[name]} ${name}: rows are units` : "Curves: columns are tokens",
      rows: 1, columns: 1,
      last: () => Infinity,
      describe: (...place) => about(name, at = real(...place)).join(", "),
      onPoint(row, column) {
        moving.replaceChildren();
        if (row === undefined) return tip.hide();
        const { x, y, width, columns } = data.boxes[i], share = (column + 0.5) / columns[1];
        tip.show(about(name, real(row, column)).join("\n"), x + share * width, y + 20);
        // the same token in all maps and in the curves
        if (timed()) moving.append(...data.boxes.filter((it) => it.columns === columns)
          .map((it) => axis(`M${it.x + share * it.width} ${it.y}v${it.height}`)));
      },
      onMove: tell,
      onPin: choose,
    });
    const walk = it.node.onkeydown;
    /** Past the edge of a page the next one comes: with what was walked to as unit and step. */
    it.node.onkeydown = (event) => {
      const { rows, columns } = data.boxes[i], pages = [rows, columns];
      const to = KEYS[event.key]?.(...at, event.ctrlKey || event.metaKey, units);
      const there = pages.map(([, , count], k) => clamp(to?.[k], count));
      if (pages.every(([from, length], k) => !(there[k] < from || there[k] >= from + length))) return walk(event);
      event.preventDefault();
      at = there;
      choose();
      tell();
    };
    return it;
  }

  const grids = [...names, ""].map(cells), maps = names.map(heat);

  /** Time as the layer reads: the player's step 0 is where it starts. */
  const turn = (t) => (view.get().direction === "forward" ? t : time - 1 - t);
  const clock = player({
    view: { ...view, get: () => ({ step: turn(view.get().step) }), set: (name, t) => view.set(name, turn(t)) },
    name: "step", last: () => time - 1, signal,
  });
  const pinning = button("", () => view.assign({ pin: pinned() ? null : data.now.step }));
  const holding = button("", () => view.assign({ compare: data.now.compare === null ? data.shown[0] : null }));
  const next = button("Next unit", () => view.assign({ unit: data.order[(data.rank + 1) % units] }));
  clock.node.append(next, holding, pinning);

  function paint(name, i) {
    const { rows: [row, tall], columns: [first, wide] } = data;
    if (!data.maps) return maps[i].node.remove(); // an export takes what is there
    svg.before(maps[i].node);
    maps[i].place(data.boxes[i]);
    maps[i].paint(tall, wide, (pixels) => pixels.forEach((_, k) => {
      const v = data.run.at(name, first + (k % wide), data.order[row + Math.floor(k / wide)]);
      pixels[k] = COLORS[Math.round(255 * (gates.includes(name) ? v : (v / data.run.ends(name) + 1) / 2))];
    }));
  }

  /** Numbers of the picture: of each token, or of each unit how often its gates saturate. */
  function table() {
    const { order, run, shown } = data;
    return !data.bars ? {
      caption: `Unit ${shown.join(" and unit ")}`,
      head: ["token", ...shown.flatMap(() => [...names, "left"]), ...all.given.map(({ name }) => named(name))],
      rows: all.tokens.map((it, t) => [shortened(it, 20),
        ...shown.flatMap((unit) => [...names.map((name) => fixed(run.at(name, t, unit))), left(data, t, unit).join("")]),
        ...all.given.map(({ numbers }) => fixed(numbers[t]))]),
    } : {
      caption: "Saturation of gates",
      head: ["unit", ...gates.flatMap((it) => [`${it} < 0.1`, `${it} > 0.9`])],
      rows: order.map((unit) => [unit, ...gates.flatMap((it) => run.saturation(it, unit).map(percent))]),
    };
  }

  return {
    above: [clock.node],
    over: grids.map(({ node }) => node),
    table,
    draw(now, changed, width) {
      const run = reading(all, now.direction), order = run.order(now);
      const unit = now.unit ?? order[0], rank = order.indexOf(unit);
      data = { ...all, now, run, order, rank, shown: now.compare === null ? [unit] : [unit, now.compare], by: texts(all)[now.sort] };
      data = { ...data, ...layout(width, data) };
      names.forEach(paint);
      grids.forEach((it, i) => {
        const box = data.boxes[i];
        it.node.hidden = names[i] && !data.panels[i];
        it.place(box, { rows: box.rows[1], columns: box.columns[1] });
        it.go(rank - data.rows[0], now.step - data.columns[0]);
      });
      clock.update();
      pinning.textContent = pinned() ? "Unpin" : `Pin ${token(data, now.step)}`;
      holding.textContent = now.compare === null ? "Set as B" : "Let go of B";
      return { height: data.height, alt: alternative(data), caption: caption(data), still: picture(data) };
    },
  };
}

export default widget({
  name: "gates",
  label: "Gates of a recurrent layer",
  title: "What does a unit keep, and when does it forget?",
  intro: "Step ▶ through the text: what does the unit keep, write, forget? Click a token for its numbers.",
  call: "Gates(tokens, **arrays, ",
  read: prepare,
  fields,
  build,
});
