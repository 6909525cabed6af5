// From one query's and every key's vector to the weights, dimension by dimension.

import { strips } from "./columns.js";
import { abs, max, product } from "./maths.js";
import { framed, scores as drawn, sum } from "./picture.js";
import { dimension } from "./words.js";

export const scores = (it, over) => {
  const { data, view } = it;
  const grids = ["Keys by dimension", "q ⊙ k by dimension"].map((label, nth) =>
    over(label, () => it.size.strips[nth + 1], () => [it.d.counts[1], it.d.cells[0].q.length], (j, n) => dimension(it.d, j, n),
      (j) => view.assign({ key: it.d.axes[1][j] }), (j, n) => framed(it.size, it.d, j, n)));
  return {
    over: grids,
    count: (side) => [it.d.counts[side], 1],
    point: (i, j) => drawn(it.size, it.d, i, j, true),
    draw(d, size, width) {
      const { cells } = d, wide = cells[0].q.length;
      it.size = strips(width, { ...size, lines: 6 + !!data.parts.bias });
      // q, every k, and every q ⊙ k; of each, the largest number is 1.
      const found = [[product(cells[0])[0]], ...[1, 2].map((which) => cells.map((cell) => product(cell)[which]))];
      it.size.strips.forEach((strip, nth) => {
        if (!strip) return;
        const rows = found[nth].length, all = found[nth].flat(), most = all.reduce((a, b) => max(a, abs(b)), 0) || 1;
        it.paint(nth, strip, all.map((x) => x / most), rows, wide, true);
        if (nth) it.show(grids[nth - 1], strip, { rows, columns: wide });
      });
      return [drawn(it.size, d, d.i, d.j), sum(it.size.sum, d)];
    },
  };
};
