// Tokens as chips: one row a tokenizer, the same word in the same place in each.

import { h } from "../shared/dom.js";
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
      marks.push(left && text(0, y + 19, name, { class: strong ? "strong" : "soft" }));
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
  lanes[0]?.chunks.forEach((_, chunk) => {
    const parts = lanes.map((lane) => lay(lane.chunks[chunk], width - left - 8));
    const own = Math.max(...parts.map((it) => it.width));
    if (line.length && x + own > width - 6) close();
    line.push({ chunk, x, parts });
    x += own + SPACE;
  });
  if (line.length) close();
  return { rows, height: y, marks };
}
