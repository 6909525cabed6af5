// Gates: what each unit of an LSTM or a GRU keeps, writes and shows while it reads a text.

import { button, select } from "./shared/controls.js";
import { grid } from "./shared/grid.js";
import { colors, heat } from "./shared/heat.js";
import { player } from "./shared/player.js";
import { diverging } from "./shared/ramp.js";
import { shortened } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { layout } from "./gates/layout.js";
import { prepare, reading } from "./gates/maths.js";
import { picture } from "./gates/picture.js";
import { alternative, caption, fixed, left, named, NAMES, numbers, place, token } from "./gates/words.js";

const COLORS = colors(diverging);

const texts = ({ gates, state, orders }) => ({
  number: "unit number", memory: "how long it keeps",
  ...Object.fromEntries(orders.map((it) => [it, named(it)])),
  keep: `mean of ${gates[0]}`, variance: `variance of ${state}`,
});

function fields(data) {
  const { time, units, arrays: { backward } } = data;
  const one = (count, start) => ({ start, takes: (it) => [start, ...Array(count).keys()].includes(it) });
  const choice = (label, start, choices) => select({ label, start, choices });
  const directions = choice("Reads", "forward", { forward: "forward", ...(backward && { backward: "backward" }) });
  return {
    sort: choice("Sort units by", "number", texts(data)),
    unit: one(units, null),
    compare: one(units, null),
    show: choice("Show", "maps", { maps: "gates over time", saturation: "how often they saturate" }),
    direction: backward ? directions : { ...directions, make: null },
    step: one(time, time - 1),
    pin: one(time, null),
  };
}

function build({ data: all, view, signal, tip, say }) {
  const { names, gates, time } = all;
  let data = null, size = null;

  const pick = (unit) => view.assign({ unit });
  const pinned = () => data.now.pin === data.now.step;

  /** What stands in a cell of a map, or with no name in a column of the curves; in lines. */
  function about(name, row, column) {
    const t = size.t0 + column, unit = data.order[size.u0 + row];
    return name ? [`unit ${unit} at ${place(data, t)}`, `${name} ${fixed(data.run.at(name, t, unit))}`]
      : [place(data, t), ...data.shown.flatMap((unit) => [`unit ${unit}:`, ...numbers(data, t, unit)])];
  }

  const cells = (name, i, words = (...at) => about(name, ...at).join(", ")) => grid({
    label: name ? `${NAMES[name]} ${name}: rows are units, columns tokens` : "Curves: columns are tokens",
    rows: 1, columns: 1,
    last: () => Infinity,
    describe: words,
    onPoint(row, column) {
      if (row === undefined) return tip.hide();
      const box = size.panels[i] ?? size.lanes[0][0];
      tip.show(about(name, row, column).join("\n"), box.x + ((column + 0.5) * box.width) / (size.t1 - size.t0), box.y + 20);
    },
    onMove: (...at) => say(words(...at)),
    onPin(row, column) {
      view.assign({ step: size.t0 + column, ...(name && { unit: data.order[size.u0 + row] }) });
    },
  });
  const grids = [...names, ""].map((name, i) => cells(name, i)), maps = names.map(heat);

  /** Time as the layer reads: the player's step 0 is where it starts. */
  const turn = (t) => (view.get().direction === "forward" ? t : time - 1 - t);
  const clock = player({
    view: { ...view, get: () => ({ step: turn(view.get().step) }), set: (name, t) => view.set(name, turn(t)) },
    name: "step", last: () => time - 1, signal,
  });
  const pinning = button("", () => view.assign({ pin: pinned() ? null : data.now.step }));
  const holding = button("", () => view.assign({ compare: data.now.compare === null ? data.shown[0] : null }));
  const next = button("Next unit", () => pick(data.order[(data.rank + 1) % all.units]));
  clock.node.append(next, holding, pinning);

  function paint(name, i) {
    const { t0, t1, u0, u1, panels } = size, wide = t1 - t0, tall = u1 - u0;
    const shown = data.now.show === "maps";
    grids[i].node.hidden = !shown;
    if (!shown) return maps[i].paint(1, 1, () => {});
    grids[i].place(panels[i], { rows: tall, columns: wide });
    maps[i].place(panels[i]);
    maps[i].paint(tall, wide, (pixels) => pixels.forEach((_, k) => {
      const v = data.run.at(name, t0 + (k % wide), data.order[u0 + Math.floor(k / wide)]);
      pixels[k] = COLORS[Math.round(255 * (gates.includes(name) ? v : (v / data.run.ends(name) + 1) / 2))];
    }));
  }

  return {
    above: [clock.node],
    under: maps.map(({ node }) => node),
    over: grids.map(({ node }) => node),
    table: () => ({
      caption: `Unit ${data.shown.join(" and unit ")}`,
      head: ["token", ...data.shown.flatMap(() => [...names, "left"]), ...all.series.map(({ name }) => named(name))],
      rows: all.tokens.map((it, t) => [shortened(it, 20),
        ...data.shown.flatMap((unit) => [...names.map((name) => fixed(data.run.at(name, t, unit))), left(data, t, unit).join("")]),
        ...all.series.map(({ values }) => fixed(values[t]))]),
    }),
    draw(now, changed, width) {
      const run = reading(all, now.direction), order = run.order(now);
      const unit = now.unit ?? order[0], rank = order.indexOf(unit);
      data = { ...all, now, run, order, rank, shown: now.compare === null ? [unit] : [unit, now.compare], by: texts(all)[now.sort], pick };
      size = layout(width, data);
      names.forEach(paint);
      const [[{ x, y, width: wide }]] = size.lanes, last = size.lanes.at(-1)[1], curves = grids.at(-1);
      curves.place({ x, y, width: wide, height: last.y + last.height - y }, { rows: 1, columns: size.t1 - size.t0 });
      for (const it of grids) it.go(it === curves ? 0 : rank - size.u0, now.step - size.t0);
      clock.update();
      pinning.textContent = pinned() ? "Unpin" : `Pin ${token(data, now.step)}`;
      holding.textContent = now.compare === null ? "Hold as B" : "Let go of B";
      return { height: size.height, alt: alternative(data), caption: caption(data), still: picture(size, data) };
    },
  };
}

export default widget({
  name: "gates",
  label: "Gates of a recurrent layer",
  title: "What does a unit keep, and when does it let go?",
  intro: "Click a cell to see its unit. Pin a token to see how much of it is left later.",
  call: "Gates(tokens, **arrays, ",
  read: prepare,
  fields,
  build,
});
