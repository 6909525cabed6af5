// A matrix that is painted, not built of elements: one focusable cell walks over it.

import { h, set } from "./dom.js";

/**
 * @param {{label: string, rows: number, columns: number, last: (row: number) => number,
 *   describe: (row: number, column: number) => string, onPoint: (row?: number, column?: number) => void,
 *   onMove: (row: number, column: number) => void,
 *   onPin: (row: number, column: number) => void}} options `last` is a row's last column that
 *   exists; `onPoint` follows the pointer and gets nothing when it leaves, `onMove` the arrow keys,
 *   `onPin` a click, Enter or the space bar.
 * @returns {{node: HTMLElement, place: (box, size?: {rows: number, columns: number}) => void,
 *   go: (row: number, column: number) => void}} `place` lays it over a box of the picture, of
 *   another size if one is given, and describes its cell anew; `go` moves its cell.
 */
export function grid({ label, rows, columns, last, describe, onPoint, onMove, onPin }) {
  const cell = h("div", { class: "lm-cell", role: "gridcell", tabindex: 0 });
  const line = h("div", { role: "row" }, cell);
  let row = rows - 1, column = 0;

  function go(toRow, toColumn) {
    row = clamp(toRow, rows);
    column = Math.min(clamp(toColumn, columns), last(row));
    const [high, wide] = [100 / rows, 100 / columns];
    set(line, { "aria-rowindex": row + 1 });
    set(cell, {
      "aria-colindex": column + 1,
      "aria-label": describe(row, column),
      style: `left:${column * wide}%;top:${row * high}%;width:${wide}%;height:${high}%`,
    });
  }

  /** Calls back with the cell under the pointer, if there is one. */
  const under = (callback) => (event) => {
    const box = node.getBoundingClientRect();
    const row = part((event.clientY - box.top) / box.height, rows);
    const column = part((event.clientX - box.left) / box.width, columns);
    if (column <= last(row)) callback(row, column);
    else onPoint();
  };

  const node = h("div", {
    class: "lm-grid", role: "grid", "aria-label": label,
    onpointermove: under(onPoint),
    onpointerdown: under(onPoint),
    onpointerleave: () => onPoint(),
    onclick: under((...at) => { go(...at); onPin(...at); }),
    onkeydown(event) {
      const to = KEYS[event.key]?.(row, column, event.ctrlKey || event.metaKey, rows);
      if (!to) return;
      event.preventDefault();
      go(...to);
      (to.length > 2 ? onPin : onMove)(row, column);
    },
  }, line);
  return {
    node,
    go,
    place({ x, y, width, height }, size) {
      if (size) ({ rows, columns } = size);
      set(node, { "aria-rowcount": rows, "aria-colcount": columns });
      set(node, { style: `left:${x}px;top:${y}px;width:${width}px;height:${height}px` });
      go(row, column);
    },
  };
}

const pin = (row, column) => [row, column, "pin"];
export const KEYS = {
  ArrowLeft: (row, column) => [row, column - 1],
  ArrowRight: (row, column) => [row, column + 1],
  ArrowUp: (row, column) => [row - 1, column],
  ArrowDown: (row, column) => [row + 1, column],
  PageUp: (row, column) => [row - 10, column],
  PageDown: (row, column) => [row + 10, column],
  Home: (row, _, far) => [far ? 0 : row, 0],
  End: (row, _, far, rows) => [far ? rows - 1 : row, Infinity],
  Enter: pin,
  " ": pin,
};

export const clamp = (at, count) => Math.min(Math.max(at, 0), count - 1);
const part = (share, count) => clamp(Math.floor(share * count), count);
