// Bricks that show how a word is cut, and the same in words.

import { times } from "../shared/dom.js";
import { fitted, note, text } from "../shared/marks.js";
import { quoted, visible } from "../shared/tokens.js";
import { box } from "./chips.js";
import { minus } from "./picture.js";

const part = (chars, { start, end }) => chars.slice(start, end).join("");

/** A path's pieces with points between. */
export const way = ({ nodes }, chars) => nodes.map((it) => visible(part(chars, it))).join("·");

const on = (path, node) => path?.nodes.includes(node);

/** How many letters stand on a line, and how wide each is: longer words go on below. `rest` is beside. */
function measured(chars, { width, right, least, most }) {
  const room = width - right, per = Math.min(chars.length, Math.floor(room / least)), cell = Math.min(room / per, most);
  return { per, cell, of: (at) => Math.floor(at / per), rest: width - per * cell - 12 };
}

/**
 * Rows of bricks over a word's letters. What goes on in another line juts out there, with an ellipsis.
 *
 * @param {{bricks: {start: number, end: number, strong, dashed, below, color}[], line, words: string,
 *   strong}[]} rows a row with a `line` shows no other.
 */
function wall(chars, rows, { top, width, color, high, per, cell, rest, of }) {
  let y = top;
  const marks = rows.map(({ bricks, line, words, strong }) => {
    const first = line ?? of(bricks[0]?.start), lines = line === undefined && bricks[0] ? of(bricks.at(-1).end - 1) - first + 1 : 1;
    const row = [
      times(lines, (i) => bricks.map((it) => {
        const at = (first + i) * per, start = Math.max(it.start, at), end = Math.min(it.end, at + per);
        const [before, after] = [start > it.start, end < it.end].map((cut) => (cut ? "…" : ""));
        const x = (start - at) * cell - 8 * before.length, wide = (end - start) * cell + 8 * (before + after).length;
        return start < end && [
          box(x + 1, y + i * high, wide - 2, high - 4, before + visible(part(chars, { start, end })) + after, it.color ?? color, it),
          it.below && note(x + wide / 2, y + i * high + 30, it.below, "middle"),
        ];
      })),
      words && text(bricks[0] ? width - rest : 0, y + 17, words, { class: strong ? "strong" : "soft" }),
    ];
    y += lines * high;
    return row;
  });
  return { marks, height: y - top };
}

const BRICKS = { right: 128, least: 16, most: 30, high: 28 };

/** Of many rows the first and the last, and between them how many are left out. */
const some = (rows, most) => (rows.length <= most ? rows : [
  ...rows.slice(0, 3), { bricks: [], words: `… ${rows.length - most + 1} more …` }, ...rows.slice(4 - most)]);

const pair = ({ symbols }, at, name) => symbols.slice(at, at + 2).map(({ id }) => name(id)).join(" + ");

export const walls = {
  bpe({ chars, steps }, { tokens }, place) {
    const size = measured(chars, { ...BRICKS, ...place });
    return wall(chars, some(steps.map(({ symbols, rank, place: at }, i) => ({
      bricks: symbols.map((it, n) => ({ ...it, strong: n === at, dashed: it.lost })),
      line: i && steps[i + 1] ? size.of(symbols[at].start) : undefined,
      words: i ? `#${rank + 1}  ${pair(steps[i - 1], at, (id) => fitted(tokens[id], size.rest / 2 - 29, 12))}` : "characters",
    })), 14), { ...BRICKS, ...place, ...size });
  },

  wordpiece({ chars, steps }, _, place) {
    const size = measured(chars, { ...BRICKS, ...place });
    const rows = []; // of a run of misses, the first
    steps.forEach(({ found, piece, ...it }, i) => {
      if (found || !i || steps[i - 1].found) {
        rows.push({
          bricks: [{ ...it, strong: found, dashed: !found }], strong: found, line: found ? undefined : size.of(it.start),
          words: found ? `✓ ${fitted(piece, size.rest - 20)}` : "✗ no piece",
        });
      } else {
        if (rows.at(-1).bricks[0]) rows.push({ left: 0, bricks: [] });
        rows.at(-1).words = `… ${++rows.at(-1).left} shorter, none a piece`;
      }
    });
    return wall(chars, some(rows, 24), { ...BRICKS, ...place, ...size });
  },

  /** The best path, then the next best where it differs, then what else there is, line by line. */
  unigram({ chars, steps, best }, _, place) {
    const size = measured(chars, { ...place, right: 0, least: 24, most: 52 });
    const order = (it) => (on(best[0], it) ? 0 : on(best[1], it) ? 1 : 1 + it.end - it.start);
    const all = steps.toSorted((a, b) => order(a) - order(b));
    const rows = times(size.of(chars.length - 1) + 1, (line) => {
      const rows = [];
      for (const node of all) {
        if (size.of(node.start) > line || size.of(node.end - 1) < line) continue;
        let row = rows.find(({ bricks }) => bricks.every(({ start, end }) => node.end <= start || node.start >= end));
        if (!row) rows.push(row = { bricks: [], line });
        const one = on(best[0], node), two = on(best[1], node);
        row.bricks.push({
          ...node, strong: one, dashed: node.lost || (two && !one), color: one || two ? place.color : "#8a949e",
          below: minus(node.score.toFixed(node.end - node.start > 1 ? 1 : 0)),
        });
      }
      return rows.length > 12 ? [...rows.slice(0, 11), { bricks: [], words: `and ${rows.length - 11} more rows of pieces` }] : rows;
    }).flat();
    const { marks, height } = wall(chars, rows, { ...place, ...size, high: 40 });
    best.forEach((path, i) => [`${i ? "next" : "best"} ${minus(path.score)}`, fitted(way(path, chars), place.width - 140)]
      .forEach((words, n) => marks.push(text(n * 96, place.top + height + 14 + i * 20, words, { class: i ? "soft" : "strong" }))));
    return { marks, height: height + 20 * best.length };
  },
};

/** Each step in words, {piece, came}, `main` if it leads somewhere. */
export const listed = {
  bpe: ({ steps }, { tokens }) => steps.slice(1).map(({ rank, place }, i) =>
    ({ piece: pair(steps[i], place, (id) => visible(tokens[id])), came: `merge ${rank + 1}`, main: true })),
  wordpiece: ({ steps }) => steps.map(({ piece, found }, i) =>
    ({ piece: visible(piece), came: found ? "found" : "no piece", main: found || !steps[i + 1] })),
  unigram: ({ steps, best, chars }) => steps.map((it) => {
    const paths = ["best", "next"].filter((_, i) => on(best[i], it)).join(" and ");
    return { piece: visible(part(chars, it)), came: `${it.lost ? "a penalty, " : ""}${minus(it.score)}${paths && `, on the ${paths} path`}`, main: paths };
  }),
};

/** How a word is cut, in one sentence or two. */
export const told = {
  bpe: ({ steps }) => `BPE redoes ${steps.length - 1} merge${steps.length === 2 ? "" : "s"}, always the one learned first.`,
  wordpiece({ steps, chars }, { most, tokens, unknown }) {
    const unk = tokens[unknown], end = steps.at(-1);
    if (!end) return `The word has ${chars.length} characters: WordPiece looks up none of more than ${most}, and it is ${unk}.`;
    return `WordPiece looks up ${steps.length} piece${steps.length === 1 ? "" : "s"}, at each position the longest first.` +
      (end.found ? "" : ` No piece fits at ${quoted(part(chars, end))}, and so the whole word is ${unk}.`);
  },
  unigram({ best, chars }) {
    if (!best[0]) return "There is no path through the word.";
    const lost = best[0].nodes.filter((it) => it.lost);
    return "The most probable path of pieces wins: " +
      best.map((it) => `${way(it, chars)} has the ${lost[0] ? "score" : "log probability"} ${minus(it.score)}`).join(", ") + "." +
      (lost[0] ? ` ${lost.map((it) => quoted(part(chars, it))).join(", ")}: no piece, which counts ${minus(lost[0].score)}${lost[1] ? " each" : ""}, a penalty 10 below the least probable piece.` : "");
  },
};
