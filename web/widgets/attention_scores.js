// AttentionHeads with picture="scores": from one query's and every key's vector to the weights, dimension by dimension.

import { times } from "./shared/dom.js";
import { heat } from "./shared/heat.js";
import { widget } from "./shared/widget.js";
import { read } from "./attention_heads/data.js";
import { strips } from "./attention_heads/columns.js";
import { abs, attention, max, product, row } from "./attention_heads/maths.js";
import { framed, overview, paint, scores, sum } from "./attention_heads/picture.js";
import { parts, same } from "./attention_heads/view.js";
import { dimension } from "./attention_heads/words.js";

export default widget({ ...same, read, build: parts((it, over) => {
  const canvases = times(3, heat), { data, view } = it;
  it.count = (side) => [it.d.counts[side], 1];
  it.point = (i, j) => scores(it.size, it.d, i, j, true);
  const grids = ["Keys by dimension", "q ⊙ k by dimension"].map((label, nth) =>
    over(label, () => it.size.strips[nth + 1], () => [it.d.counts[1], it.d.cells[0].q.length], (j, n) => dimension(it.d, j, n),
      (j) => view.assign({ key: it.d.axes[1][j] }), (j, n) => framed(it.size, it.d, j, n)));
  return {
    under: canvases.map(({ node }) => node),
    over: grids.map(({ node }) => node),
    draw(d, size, width) {
      const { cells } = d, wide = cells[0].q.length;
      it.size = strips(width, { ...size, lines: 6 + !!data.parts.bias });
      // q, every k, and every q ⊙ k; of each, the largest number is 1.
      const found = [[product(cells[0])[0]], ...[1, 2].map((which) => cells.map((cell) => product(cell)[which]))];
      found.forEach((them, nth) => {
        const strip = it.size.strips[nth], made = grids[nth - 1]?.node ?? {};
        made.hidden = canvases[nth].node.hidden = !strip;
        if (!strip) return;
        const all = them.flat(), most = all.reduce((a, b) => max(a, abs(b)), 0) || 1;
        paint(canvases[nth], strip, all.map((x) => x / most), them.length, wide, true);
        if (nth) grids[nth - 1].place(strip, { rows: them.length, columns: wide });
      });
      return [it.many && overview(it.size.overview, d), scores(it.size, d, d.i, d.j), sum(it.size.sum, d)];
    },
  };
}, { attention, row }) });
