// Bricks that show how a word is cut.

import { fitted, note, text } from "../shared/marks.js";
import { shortened, visible } from "../shared/tokens.js";
import { box } from "./chips.js";
import { minus } from "./picture.js";

/**
 * A word's letters in cells of one width, and rows of bricks over them.
 *
 * @param {{bricks: {start: number, end: number, strong, dashed, below, color}[], words: string, strong}[]} rows
 */
function wall(chars, rows, { top, width, color, right, least, most, high }) {
  const cell = Math.min(Math.max((width - right) / chars.length, least), most);
  const room = Math.min(Math.floor((width - right) / cell), chars.length);
  const hidden = chars.length - room;
  const end = top + rows.length * high;
  return {
    height: rows.length * high + (hidden && 20),
    marks: [rows.map(({ bricks, words, strong }, i) => [
      bricks.filter(({ start }) => start < room).map((it) => {
        const [end, x, y] = [Math.min(it.end, room), it.start * cell, top + i * high];
        return [
          box(x + 1, y, (end - it.start) * cell - 2, high - 4, visible(chars.slice(it.start, end).join("")), it.color ?? color, it),
          it.below && note(x + (end - it.start) * cell / 2, y + 30, it.below, "middle"),
        ];
      }),
      words && text(bricks.length ? room * cell + 12 : 0, top + i * high + 17, words, { class: strong ? "strong" : "soft" }),
    ]), hidden > 0 && note(0, end + 12, `and ${hidden} more`)],
  };
}

const BRICKS = { right: 128, least: 12, most: 30, high: 28 };

/** Of many rows the first and the last, and between them how many are left out. */
const some = (rows, most) => (rows.length <= most ? rows : [
  ...rows.slice(0, 3), { bricks: [], words: `… ${rows.length - most + 1} more …` }, ...rows.slice(4 - most)]);

export const walls = {
  bpe: ({ chars, steps }, { tokens }, place) => wall(chars, some(steps.map(({ symbols, rank, place: at }, i) => ({
    bricks: symbols.map((it, n) => ({ ...it, strong: n === at, dashed: it.lost })),
    words: i ? `#${rank + 1}  ${steps[i - 1].symbols.slice(at, at + 2).map(({ id }) => shortened(tokens[id], 9)).join(" + ")}`
      : "characters",
  })), 14), { ...BRICKS, ...place }),

  wordpiece({ chars, steps }, _, place) {
    const rows = []; // of a run of misses, the first
    steps.forEach(({ found, piece, ...it }, i) => {
      if (found || !i || steps[i - 1].found) {
        rows.push({ bricks: [{ ...it, strong: found, dashed: !found }], strong: found, words: found ? `✓ ${shortened(piece, 12)}` : "✗ not there" });
      } else {
        if (rows.at(-1).bricks[0]) rows.push({ left: 0, bricks: [] });
        rows.at(-1).words = `… ${++rows.at(-1).left} shorter, not there`;
      }
    });
    return wall(chars, some(rows, 24), { ...BRICKS, ...place });
  },

  unigram({ chars, steps, best }, _, place) {
    const rows = [];
    const on = (path, node) => path?.nodes.includes(node);
    for (const node of steps.toSorted((a, b) => a.end - a.start - b.end + b.start)) {
      let row = rows.find(({ bricks }) => bricks.every(({ start, end }) => node.end <= start || node.start >= end));
      if (!row && rows.push(row = { bricks: [] }) > 12) break;
      const one = on(best[0], node), two = on(best[1], node);
      row.bricks.push({
        ...node, strong: one, dashed: two && !one, color: one || two ? place.color : "#8a949e",
        below: minus(node.score.toFixed(node.end - node.start > 1 ? 1 : 0)),
      });
    }
    const { marks, height } = wall(chars, rows.slice(0, 12), { ...place, right: 0, least: 24, most: 52, high: 40 });
    best.forEach((path, i) => [`${i ? "next" : "best"} ${minus(path.score)}`, fitted(way(path, chars), place.width - 110)]
      .forEach((words, n) => marks.push(text(n * 96, place.top + height + 14 + i * 20, words, { class: i ? "soft" : "strong" }))));
    return { marks, height: height + 20 * best.length };
  },
};

/** A path's pieces with points between. */
export const way = ({ nodes }, chars) =>
  nodes.map(({ start, end }) => visible(chars.slice(start, end).join(""))).join("·");
