// The selected block: its facts, equation, code and numbers, down to the arithmetic of one of them.

import { button } from "../shared/controls.js";
import { h, set, times } from "../shared/dom.js";
import { grid } from "../shared/grid.js";
import { colors, heat } from "../shared/heat.js";
import { cividis, diverging } from "../shared/ramp.js";
import { entry, view as array } from "./maths.js";
import { arithmetic, place } from "./words.js";

const CELL = 20;
const DIVERGING = colors(diverging), SEQUENTIAL = colors(cividis);

/** @param {{view, say, open: () => void, close: () => void}} options `open` shows the inside of the selected block. */
export function panel({ view, say, open, close }) {
  let now, data, block, arrays, y;
  const title = h("p", { class: "lm-title" }), list = h("dl"), equation = h("pre", { class: "sum" });
  const inside = button("Look inside", open);
  const chooser = (field) => {
    const input = h("select", { onchange: () => view.set(field, +input.value) });
    return {
      input,
      show(words, count, at) {
        set(input, { "aria-label": words });
        input.hidden = count < 2;
        input.replaceChildren(...times(count, (i) => h("option", { value: i }, `${words} ${i + 1} of ${count}`)));
        input.value = at;
      },
    };
  };
  const layers = chooser("layer"), heads = chooser("head");
  const map = heat();
  const words = (row, column) => {
    if (!y || !block) return "";
    const [rows, columns] = [y.shape[1], y.shape[2]], { tokens } = data, square = block.shape.at(-1) === block.shape.at(-2);
    return `${place(row, rows, tokens, "row")}, ${square ? place(column, columns, tokens, "column") : `unit ${column}`}: ` +
      arithmetic(data.values, arrays, y, now.head, row, column);
  };
  const pick = (row, column) => view.assign({ row, column });
  const cells = grid({
    label: "Numbers", rows: 1, columns: 1,
    last: () => (y ? y.shape[2] - 1 : 0),
    describe: words,
    onPoint() {},
    onMove: (row, column) => say(words(row, column)),
    onPin: pick,
  });
  const box = h("div", { style: "position:relative" }, map.node, cells.node);
  const note = h("p", { class: "lm-soft" }), sum = h("pre", { class: "sum", "aria-live": "polite" });
  const code = h("div");
  const node = h("div", { class: "lm-facts" }, title, h("div", { class: "lm-buttons" }, inside, button("Close", close), layers.input, heads.input),
    list, equation, note, box, sum, code);

  function paint() {
    const [, rows, columns] = y.shape, values = [];
    for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) values.push(entry(y, now.head, row, column));
    const real = values.filter((x) => x > -1e29), low = Math.min(...real), high = Math.max(...real), top = Math.max(-low, high) || 1;
    const color = (x) => (low < 0 ? DIVERGING[Math.round(127.5 * (1 + x / top))] : SEQUENTIAL[Math.round((255 * (x - low)) / (high - low || 1))]);
    map.paint(rows, columns, (pixels) => values.forEach((x, i) => { if (x > -1e29) pixels[i] = color(x); }));
    const room = box.clientWidth || 300, width = Math.min(room, CELL * columns), height = Math.min(CELL, Math.max(8, width / columns)) * rows;
    set(box, { style: `position:relative;height:${height}px;margin:6px 0` });
    const at = { x: 0, y: 0, width, height };
    map.place(at);
    cells.place(at, { rows, columns });
    cells.go(now.row ?? 0, now.column ?? 0);
    const whole = block.shape.at(-1) ?? 1;
    note.textContent = `Rows: ${rows === data.tokens.length ? "tokens" : "the first axis"}, ${rows} of ${block.shape.at(-2) ?? data.tokens.length}. ` +
      `Columns: ${columns} of ${whole}. ${low < 0 ? "Blue is negative, orange positive" : "Yellow is largest"}. Select a number.`;
  }

  return {
    node,
    show(given) {
      ({ now, data, block } = given);
      node.hidden = !block;
      if (!block) return;
      const repeated = block.numbers;
      arrays = repeated[Math.min(now.layer, repeated.length - 1)];
      y = arrays && array(data.values, arrays["y"]);
      title.textContent = block.named;
      inside.hidden = !given.opens;
      list.replaceChildren(...block.facts.flatMap(([name, it]) => [h("dt", null, name), h("dd", null, it)]));
      equation.textContent = block.equation;
      equation.hidden = !block.equation;
      layers.show("Layer", repeated.length, Math.min(now.layer, repeated.length - 1));
      for (const it of [heads.input, box, note]) it.hidden = !y;
      if (y) {
        heads.show(block.slices, y.shape[0], Math.min(now.head, y.shape[0] - 1));
        paint();
      }
      const [row, column] = [now.row, now.column], picked = y && row !== null && column !== null && row < y.shape[1] && column < y.shape[2];
      sum.hidden = !picked;
      sum.textContent = picked ? words(row, column).replace(": ", ":\n") : "";
      code.replaceChildren(...block.sources.map((i) => data.sources[i]).map(([file, first, text]) => h("div", null,
        h("p", { class: "lm-soft" }, `${file}, line ${first}`), h("pre", { tabindex: 0, role: "region", "aria-label": `Code, ${file}` }, text))));
    },
  };
}
