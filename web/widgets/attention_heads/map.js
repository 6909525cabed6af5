// The map of one head: its weights as a heat map, the lines of one token, and the arithmetic of one weight.

import { layout } from "./layout.js";
import { cross, fan, head, legend, sum } from "./picture.js";
import { at } from "./words.js";

export const map = (it, over) => {
  const { data, view } = it;
  const grids = ["Weights", "Other head"].map((which, nth) =>
    over(which, () => it.size.maps[nth], () => it.d.counts, (...cell) => at(it.d, ...cell),
      (row, column) => view.assign({ query: it.d.axes[0][row], key: it.d.axes[1][column] }),
      (row, column) => [
        fan(it.size.fan, it.d, (nth && it.d.other?.p) || it.d.drawn, row, -1, true),
        cross(it.size.maps[nth], it.d, row, column, 4)]));
  return {
    over: grids,
    count: (side) => (side ? [1, it.d.counts[1]] : [it.d.counts[0], 1]),
    point: (i, j) => [fan(it.size.fan, it.d, it.d.drawn, i, j, true), cross(it.size.maps[0], it.d, i, j, 4)],
    draw(d, size, width) {
      const { view: { name }, other, signed, cells } = d, [rows, columns] = d.counts, two = d.now.compare === "beside";
      it.size = layout(width, { ...size, two, signed, lines: cells && 6 + !!data.parts.bias });
      const { maps } = it.size, heads = [signed ? { name, p: d.difference } : d.view, two && other];
      maps.forEach((box, nth) => {
        if (!box) return;
        const { source, place, partial, p } = heads[nth];
        // Of a head whose weights are not all there, its thumbnail.
        it.paint(nth, box, ...(partial ? [source.small(...place), ...data.small] : [p, rows, columns, signed]));
        it.show(grids[nth], box, { rows, columns });
        grids[nth].go(d.i, d.j);
      });
      return [maps.map((box, nth) => box && head(box, d, heads[nth].name, signed && `minus ${other.name}`)),
        legend(it.size.legend, d), fan(it.size.fan, d, d.drawn, d.i, -1), cells && sum(it.size.sum, d)];
    },
  };
};
