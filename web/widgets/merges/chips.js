// Tokens as chips: one row a tokenizer, the same word in the same place in each; and a walk over them.

import { h, set } from "../shared/dom.js";
import { clamp, KEYS } from "../shared/grid.js";
import { fitted, rect, text } from "../shared/marks.js";
import { shortened } from "../shared/tokens.js";

const CHIP = 28, GAP = 3, SPACE = 16;

const pen = h("canvas").getContext("2d");
pen.font = "13px system-ui, sans-serif";
const label = ({ piece }) => shortened(piece, 24);

/** A box with a word in it. Looks: strong (just made, or pinned), dashed (unknown, or not there). */
export const box = (x, y, width, height, words, color, { strong, dashed, below }) => [
  rect(x, y, width, height, {
    rx: 5, fill: color, "fill-opacity": dashed ? 0 : strong ? 0.4 : 0.13, stroke: color,
    "stroke-width": strong ? 2 : 1, "stroke-dasharray": dashed && "3 3",
  }),
  text(x + width / 2, y + (below ? 15 : height / 2 + 5), fitted(words, width), { style: "font-size:13px", "text-anchor": "middle" }),
];

/** The chips of a word, from 0; where there is no more room, below. */
function lay(tokens, room) {
  let x = 0, y = 0, widest = 0;
  const boxes = tokens.map((token) => {
    const width = Math.min(room, Math.max(20, pen.measureText(label(token)).width + 12));
    if (x && x + width > room) [x, y] = [0, y + CHIP + GAP];
    const it = { token, x, y, width, height: CHIP };
    x += width + GAP;
    widest = Math.max(widest, x - GAP);
    return it;
  });
  return { boxes, width: widest, height: y + CHIP + GAP };
}

/**
 * Lays out lanes of tokens, {name, color, strong, dashed, chunks}: `chunks` are the tokens of each word.
 *
 * @returns {{rows: object[][], height: number, marks: SVGElement[]}} boxes {token, chunk, x, y, width,
 *   height} by lane.
 */
export function flow(lanes, left, top, width) {
  const rows = lanes.map(() => []), marks = [];
  let line = [], x = left, y = top;
  function close() {
    lanes.forEach(({ name, strong, color, dashed }, i) => {
      marks.push(text(0, y + 19, name, { class: strong ? "strong" : "soft" }));
      for (const { chunk, x, parts } of line) {
        for (const { token, ...it } of parts[i].boxes) {
          it.x += x;
          it.y += y;
          rows[i].push({ ...it, token, chunk });
          marks.push(box(it.x, it.y, it.width, CHIP, label(token), color, { ...token, dashed: token.lost || dashed }));
        }
      }
      y += Math.max(...line.map(({ parts }) => parts[i].height)) + 2;
    });
    [line, x, y] = [[], left, y + 14];
  }
  lanes[0].chunks.forEach((_, chunk) => {
    const parts = lanes.map((lane) => lay(lane.chunks[chunk], width - left - 8));
    const own = Math.max(...parts.map((it) => it.width));
    if (line.length && x + own > width - 6) close();
    line.push({ chunk, x, parts });
    x += own + SPACE;
  });
  if (line.length) close();
  return { rows, height: y, marks };
}

/** As shared/grid.js, over boxes of any size: rows of {x, y, width, height}. */
export function walk({ name, describe, onPoint, onMove, onPin }) {
  const cell = h("div", { class: "lm-cell", role: "gridcell", tabindex: 0 });
  const line = h("div", { role: "row" }, cell);
  let rows = [[]], row = 0, column = 0;
  const here = () => rows[row][column];
  function go(toRow, toColumn) {
    row = clamp(toRow, rows.length);
    column = Math.max(0, clamp(toColumn, rows[row].length));
    const { x, y, width, height } = here() ?? { x: 0, y: 0, width: 44, height: CHIP };
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
    class: "lm-grid", role: "grid", "aria-label": name,
    onpointermove: point, onpointerdown: point, onpointerleave: () => onPoint(),
    onclick(event) {
      const it = under(event);
      if (!it) return;
      const at = rows.findIndex((all) => all.includes(it));
      go(at, rows[at].indexOf(it));
      onPin(it);
    },
    onkeydown(event) {
      const to = KEYS[event.key]?.(row, column, event.ctrlKey || event.metaKey, rows.length);
      if (!to) return;
      event.preventDefault();
      go(...to);
      if (here()) (to.length > 2 ? onPin : onMove)(here());
    },
  }, line);
  return {
    node,
    go,
    /** Over the rows of boxes, in the stage, down to a height; without boxes, nowhere. */
    place(all, height) {
      rows = all;
      node.hidden = !height;
      set(node, {
        "aria-rowcount": rows.length, "aria-colcount": Math.max(1, ...rows.map((it) => it.length)),
        style: `left:0;top:0;width:100%;height:${height}px`,
      });
      go(row, column);
    },
  };
}
