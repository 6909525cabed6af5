// Where things lie, in CSS pixels: the maps (or bars) beside each other, then the curves of one
// unit or two over the tokens, the series under them, and the arithmetic of one step.

import { times } from "../shared/dom.js";
import { shortened } from "../shared/tokens.js";

export const LEFT = 34;

/** Of `count` things: the first on the page with number `at`, how many a page has (the last one, too), and all. */
const page = (at, count, most) => [Math.max(0, Math.min(at - (at % most), count - most)), Math.min(most, count), count];

/** A grid's boxes have `rows` and `columns`: pages of the units in order, and of the tokens. */
export function layout(width, { names, gates, tokens, given, units, time, rank, shown, now }) {
  const wide = width >= 600, room = width - LEFT - 18, gap = wide ? 26 : 22;
  const maps = now.show === "maps", bars = now.show === "saturation";
  const rows = page(rank, units, maps ? 48 : 96), columns = page(now.step, time, Math.floor(room / 15));
  const seen = times(columns[1], (k) => columns[0] + k), pace = room / columns[1];
  const across = bars ? gates.length : wide ? names.length / 2 : 2;
  const each = (room - (across - 1) * gap) / across;
  const height = Math.min(Math.max(rows[1] * (maps ? 6 : 10), 48), maps ? 170 : 290);
  const panels = (maps ? names : bars ? gates : []).map((name, i) => ({
    name, height, rows, columns: maps ? columns : [0, 1, 1],
    x: LEFT + (i % across) * (each + gap),
    y: 50 + Math.floor(i / across) * (height + (wide ? 34 : 54)),
    width: each,
  }));
  let y = panels[0] ? panels.at(-1).y + height + (bars ? 66 : wide ? 32 : 44) : 14;
  const lanes = shown.map(() => {
    y += 282;
    return [226, 112].map((up) => ({ x: LEFT, y: y - up, width: room, height: 88, top: y - 269 }));
  });
  y -= 18;
  const [[{ y: top }]] = lanes;
  const curves = { x: LEFT, y: top, width: room, height: y - 6 - top, rows: [0, 1, 1], columns };
  const words = seen.map((t) => shortened(tokens[t], 11));
  const longest = Math.max(...words.map((it) => it.length)) * 6.6;
  const level = longest < pace;
  const labels = y + (level ? 14 : 6);
  y += level ? 24 : Math.min(longest, 80) + 12;
  const strips = given.map((_, i) => y + 24 + i * 60);
  y += given.length * 60 + 30;
  const sums = shown.map((_, i) => (wide ? [4 + (i * width) / 2, y] : [4, y + i * 132]));
  return { wide, maps, bars, rows, columns, seen, pace, panels, lanes, words, level, labels, strips, sums,
    boxes: [...names.map((_, i) => panels[i] ?? curves), curves],
    height: sums.at(-1)[1] + 126, x: (t) => LEFT + (t - columns[0] + 0.5) * pace };
}
