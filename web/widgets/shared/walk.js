// A walk by keyboard and pointer over boxes of any size, which lie anywhere in a picture.

import { h, set } from "./dom.js";
import { clamp, KEYS } from "./grid.js";

const GAP = 3; // between boxes it still counts

/**
 * As shared/grid.js, over rows of boxes {x, y, width, height}: `describe` and the callbacks get a box,
 * `onPoint` nothing where none is. Along a single row, the arrows up and down go, too.
 *
 * @returns {{node: HTMLElement, go: (row: number, column: number) => void,
 *   place: (rows: Object[][], height: number) => void}} `place` lays it over the stage's picture, down to
 *   a height; with none, it is gone.
 */
export function walk({ label, describe, onPoint, onMove, onPin }) {
  const cell = h("div", { class: "lm-cell", role: "gridcell", tabindex: 0 });
  const line = h("div", { role: "row" }, cell);
  let rows = [[]], row = 0, column = 0;
  const here = () => rows[row][column];

  function go(toRow, toColumn) {
    row = clamp(toRow, rows.length);
    column = Math.max(0, clamp(toColumn, rows[row].length));
    const { x, y, width, height } = here() ?? { x: 0, y: 0, width: 44, height: 28 };
    set(line, { "aria-rowindex": row + 1 });
    set(cell, {
      "aria-colindex": column + 1, "aria-label": here() ? describe(here()) : "nothing",
      style: `left:${x}px;top:${y}px;width:${width}px;height:${height}px`,
    });
  }

  function under({ clientX, clientY }) {
    const { left, top } = node.getBoundingClientRect();
    const within = (at, size) => at >= 0 && at < size + GAP;
    return rows.flat().find((it) => within(clientX - left - it.x, it.width) && within(clientY - top - it.y, it.height));
  }
  const point = (event) => onPoint(under(event));
  const node = h("div", {
    class: "lm-grid", role: "grid", "aria-label": label,
    onpointermove: point, onpointerdown: point, onpointerleave: () => onPoint(),
    onclick(event) {
      const it = under(event);
      if (!it) return;
      const at = rows.findIndex((all) => all.includes(it));
      go(at, rows[at].indexOf(it));
      onPin(it);
    },
    onkeydown(event) {
      let { key } = event;
      if (!rows[1]) key = key.replace("wDown", "wRight").replace("wUp", "wLeft");
      const to = KEYS[key]?.(row, column, event.ctrlKey || event.metaKey, rows.length);
      if (!to) return;
      event.preventDefault();
      go(...to);
      cell.scrollIntoView({ block: "nearest", inline: "nearest" });
      if (here()) (to.length > 2 ? onPin : onMove)(here());
    },
  }, line);
  return {
    node,
    go,
    place(all, height) {
      rows = all;
      node.hidden = !height;
      set(node, {
        "aria-rowcount": rows.length, "aria-colcount": Math.max(1, ...rows.map((it) => it.length)),
        style: `left:0;top:0;width:100%;height:${height}px;touch-action:auto`,
      });
      go(row, column);
    },
  };
}
