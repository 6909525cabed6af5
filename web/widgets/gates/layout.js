// Where things lie, in CSS pixels: the maps (or squares) beside each other, then the curves of one
// unit or two over the tokens, the series under them, and the arithmetic of one step.

import { times } from "../shared/dom.js";
import { shortened } from "../shared/tokens.js";

export const LEFT = 34;

/** Of `count` things, those from–to that share a page of `most` with number `at`. */
function page(at, count, most) {
  const from = Math.floor(at / most) * most;
  return [from, Math.min(from + most, count)];
}

export function layout(width, { names, gates, tokens, series, units, rank, shown, now }) {
  const wide = width >= 600, room = width - LEFT - 8, gap = wide ? 26 : 22;
  const [t0, t1] = page(now.step, tokens.length, Math.floor(room / 15));
  const [u0, u1] = page(rank, units, 48);
  const maps = now.show === "maps", pace = room / (t1 - t0);
  const across = !maps ? gates.length : wide ? names.length / 2 : 2;
  const each = (room - (across - 1) * gap) / across;
  const height = maps ? Math.min(Math.max((u1 - u0) * 6, 48), 170) : Math.min(each, 190);
  const panels = (maps ? names : gates).map((name, i) => ({
    name, height,
    x: LEFT + (i % across) * (each + gap),
    y: 50 + Math.floor(i / across) * (height + (wide ? 34 : 54)),
    width: maps ? each : height,
  }));
  let y = panels.at(-1).y + height + (maps ? wide ? 32 : 44 : 66);
  const lanes = shown.map(() => {
    const top = y;
    y += 282;
    return [56, 170].map((down, i) => ({ x: LEFT, y: top + down, width: room, height: 88, title: top + 8 }));
  });
  y -= 18;
  const words = times(t1 - t0, (k) => shortened(tokens[t0 + k], 11));
  const longest = Math.max(...words.map((it) => it.length)) * 6.6;
  const flat = longest < pace;
  const labels = y + (flat ? 14 : 6);
  y += flat ? 24 : Math.min(longest, 80) + 12;
  const strips = series.map((_, i) => y + 22 + i * 44);
  y += series.length * 44 + 30;
  const sums = shown.map((_, i) => (wide ? [4 + (i * width) / 2, y] : [4, y + i * 110]));
  return { wide, t0, t1, u0, u1, pace, panels, lanes, words, flat, labels, strips, sums,
    height: sums.at(-1)[1] + 96, x: (t) => LEFT + (t - t0 + 0.5) * pace };
}
