// A walk by keyboard and pointer over boxes of any size, which lie anywhere in a picture.

import { h, set } from "./dom.js";
import { clamp } from "./grid.js";

const GAP = 3; // between boxes it still counts
/** How far a key goes, in rows and in boxes; nowhere: it pins. */
const KEYS = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -99], End: [0, 99], Enter: [0, 0], " ": [0, 0],
};

/**
 * As shared/grid.js, over rows of boxes {x, y, width, height}: `describe` and the callbacks get a box,
 * `onPoint` nothing where none is. Along a single row, the arrows up and down go, too.
 *
 * @returns {{node: HTMLElement, go: (row: number, column: number) => void,
 *   place: (rows: Object[][], height: number) => void}} `place` lays it over the stage's picture, down to
 *   a height; without boxes it is gone.
 */
export function walk({ label, describe, onPoint, onMove, onPin }) {
  const cell = h("div", { class: "lm-cell", role: "gridcell", tabindex: 0 });
  const line = h("div", { role: "row" }, cell);
  let rows = [[]], row = 0, column = 0;

  /** @returns the box that it comes to. */
  function go(toRow, toColumn) {
    row = clamp(toRow, rows.length);
    column = clamp(toColumn, rows[row].length || 1);
    const it = rows[row][column];
    if (!it) return;
    set(line, { "aria-rowindex": row + 1 });
    set(cell, {
      "aria-colindex": column + 1, "aria-label": describe(it),
      style: `left:${it.x}px;top:${it.y}px;width:${it.width}px;height:${it.height}px`,
    });
    return it;
  }

  function under({ clientX, clientY }) {
    const box = node.getBoundingClientRect(), scale = node.offsetWidth / box.width; // a slide is scaled
    const x = (clientX - box.x) * scale, y = (clientY - box.y) * scale;
    return rows.flat().find((it) => x >= it.x && x < it.x + it.width + GAP && y >= it.y && y < it.y + it.height);
  }
  const point = (event) => onPoint(under(event));
  const node = h("div", {
    class: "lm-grid", role: "grid", "aria-label": label,
    onpointermove: point, onpointerdown: point, onpointerleave: () => onPoint(),
    onclick(event) {
      const it = under(event);
      if (!it) return;
      rows.forEach((all, i) => all.includes(it) && go(i, all.indexOf(it)));
      onPin(it);
    },
    onkeydown(event) {
      const to = KEYS[event.key];
      if (!to) return;
      event.preventDefault();
      const [down, right] = to, it = go(row + down, column + right + (rows[1] ? 0 : down));
      cell.scrollIntoView({ block: "nearest", inline: "nearest" });
      if (it) (down || right ? onMove : onPin)(it);
    },
  }, line);
  return {
    node,
    go,
    place(all, height) {
      rows = all;
      node.hidden = !rows.flat()[0];
      set(node, {
        "aria-rowcount": rows.length, "aria-colcount": Math.max(...rows.map((it) => it.length)),
        style: `inset:0 0 auto;height:${height}px;touch-action:auto`,
      });
      go(row, column);
    },
  };
}
