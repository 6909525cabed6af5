// What the model reads, what it answers at one position, and every epoch's draw.

import { EXACT, MODEL } from "../shared/colors.js";
import { s } from "../shared/dom.js";
import { fitted, note, rect, text, tinted, title } from "../shared/marks.js";
import { short } from "../shared/numbers.js";
import { shortened } from "../shared/tokens.js";
import { answer, percent, inputAt } from "./words.js";

/** Of each action its color and its letter. */
const LOOKS = [null, ["#CC79A7", "M"], ["#E69F00", "R"], ["#009E73", "K"]];
const CELL = 46, LEFT = 62, RIGHT = 86, TILE = 46;

/** Where things lie, and the answers; grids are placed over `cells` and `strip`. */
export function place(it, width) {
  const { data: { n }, draws } = it;
  const columns = Math.max(3, Math.min(n, Math.floor(width / 80)));
  const rows = Math.ceil(n / columns);
  const narrow = width < 560; // there, how many are selected is below what is said of one
  const cells = { x: 0, y: narrow ? 4 : TILE, width: Math.min(width, columns * 120), height: rows * CELL };
  // The epochs are under the answers, or beside them.
  const below = cells.y + cells.height + 24, half = width < 700 ? 0 : width / 2;
  const tall = draws.length * 14;
  const [answers, end] = answered(it, below, half, half ? half - 24 : width, below + tall + 34), x = half + LEFT;
  const strip = { x, y: half ? below + 14 : end + 44 + narrow * 2 * TILE, width: width - x - RIGHT, height: tall };
  return { columns, rows, cells, answers, strip, end, counts: narrow ? end + 16 : 0 };
}

export function picture(it, at, width) {
  const { counts: [all, ...each], eligible, now: { kind, rate }, data: { mask } } = it;
  const asked = it.given || kind === "span" ? "" : `; rate ${percent(rate)}`; // of spans it is a number of tokens
  const [summary] = tiles([
    [`Selected: ${all} of ${eligible}`, percent(all, eligible) + asked],
    ...[shortened(mask), "Random word", "Kept"].map((name, k) =>
      [`${name}: ${each[k]}`, all ? percent(each[k], all) : "–", k + 1])], at.counts, width);
  return { height: Math.max(at.end, at.strip.y + at.strip.height) + 8, still: [summary, cells(it, at), at.answers, epochs(it, at.strip)] };
}

/** Numbers with what they are, beside each other: their marks, and their height. */
function tiles(all, y, width, left = 0) {
  const columns = width < 560 ? all.length + (width > 340) >> 1 || 1 : Math.max(all.length, 3);
  return [all.map(([strong, soft, action], i) => {
    const [x, top] = [left + (i % columns) * width / columns, y + Math.floor(i / columns) * TILE];
    const inset = action ? 30 : 0;
    return s("g", null,
      action && [tinted(x + 1, top + 1, 22, 22, LOOKS[action][0]), text(x + 12, top + 16, LOOKS[action][1], { class: "letter" })],
      title(x + inset, top + 13, strong), note(x + inset, top + 30, soft));
  }), Math.ceil(all.length / columns) * TILE];
}

/** The text as the model reads it; above what is selected, the token that it is asked for. */
function cells(it, { columns, cells: box }) {
  const wide = box.width / columns, { data, actions, chosen } = it;
  return data.tokens.map((token, i) => {
    const [x, y] = [box.x + (i % columns) * wide, box.y + Math.floor(i / columns) * CELL];
    const look = LOOKS[actions[i]];
    return s("g", null,
      look && [tinted(x + 2, y + 2, wide - 4, CELL - 5, look[0]),
        text(x + wide - 11, y + 16, look[1], { class: "letter" }),
        note(x + 8, y + 16, fitted(token, wide - 30, 12))],
      text(x + wide / 2, y + (look ? 35 : 27), fitted(inputAt(it, i), wide - 12, look ? 14 : 13),
        { "text-anchor": "middle", class: look ? "strong" : data.special[i] ? "soft" : null }),
      i === chosen && rect(x, y, wide, CELL - 1, { class: "pin", rx: 8 }));
  });
}

function epochs({ data: { n }, draws, epoch, eligible, now }, { x, y, width, height }) {
  const [wide, tall] = [width / n, height / draws.length];
  return [
    title(x - LEFT, y - 14, now.dynamic ? "One row an epoch, one column a token" : "Static: one draw for every epoch"),
    draws.map(({ actions }, e) => {
      const top = y + e * tall;
      const count = actions.filter(Boolean).length;
      return s("g", null,
        rect(x, top + 1, width, tall - 2, { class: "none" }),
        actions.map((action, i) => action > 0 && rect((x + i * wide).toFixed(1), top + 1, Math.max(wide - (wide > 4), 1).toFixed(1), tall - 2, { fill: LOOKS[action][0] })),
        (draws.length < 16 || e % 10 === 0) && [note(x - 8, top + 11, e ? e : "epoch 0", "end"),
          note(x + width + 8, top + 11, `${count}: ${percent(count, eligible)}`)]);
    }),
    rect(x - 2, y + epoch * tall - 1, width + 4, tall + 2, { class: "pin", rx: 3 })];
}

const READERS = { exact: [EXACT, "exact answer"], model: [MODEL, "the model’s"] };

/** The likeliest words at one position, as pairs of bars, and its losses below them, or at `half` and `beside`: their marks, and where they end. */
function answered(it, y, half, width, beside) {
  const told = answer(it);
  if (!told) return [null, y - 28];
  const head = [title(0, y, told.head), note(0, y + 18, told.read), note(0, y + 35, told.why)];
  if (!told.words) return [head, y + 45];
  const names = it.data.readers;
  const room = Math.min(130, width * 0.3), x = room + 10;
  const top = y + 76;
  const most = Math.max(...names.flatMap((name) => told[name]));
  const step = 6 + 12 * names.length, bottom = top + told.words.length * step + 12;
  const [facts, high] = tiles(told.tiles, half ? beside : bottom, 340, half); // one a row
  const bar = (x, y, wide, name) => rect(x, y, Math.max(wide, 1), 8, // exact is filled, the model's outlined
    { stroke: READERS[name][0], "stroke-width": 1.5, fill: name === "exact" ? EXACT : "none" });
  return [[head, facts,
    names.map((name, k) => [bar(k * 150, top - 26, 26, name), note(34 + k * 150, top - 18, READERS[name][1])]),
    told.words.map((word, i) => {
      const true_ = word === told.true;
      return s("g", null, text(room, top + i * step + 6 * names.length + 5, i < told.words.length - 1 ? fitted(word, room - 4, 14) : word, { "text-anchor": "end", class: true_ ? "strong" : null }),
        names.map((name, k) => {
          const [long, at] = [(told[name][i] / most) * (Math.min(width, 760) - x - 100), top + i * step + k * 12];
          return [bar(x, at + 2, long, name), note(x + long + 8, at + 11, short(told[name][i]) + (true_ && !k ? " ← true" : ""))];
        }));
    })], half ? Math.max(bottom - 8, beside + high) : bottom + high];
}
