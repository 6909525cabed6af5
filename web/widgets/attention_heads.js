// AttentionHeads: every head of every layer, one head as a map, one weight.

import { heat } from "./shared/heat.js";
import { widget } from "./shared/widget.js";
import { read } from "./attention_heads/data.js";
import { layout } from "./attention_heads/layout.js";
import { attention, row } from "./attention_heads/maths.js";
import { cross, fan, head, legend, overview, paint, sum } from "./attention_heads/picture.js";
import { parts, same } from "./attention_heads/view.js";
import { at } from "./attention_heads/words.js";

export default widget({ ...same, read, build: parts((it, over) => {
  const canvases = [heat(), heat()], { data, view } = it;
  it.count = (side) => (side ? [1, it.d.counts[1]] : [it.d.counts[0], 1]);
  it.point = (i, j) => [fan(it.size.fan, it.d, it.d.drawn, i, j, true), cross(it.size.maps[0], it.d, i, j, 4)];
  const grids = ["Weights", "Other head"].map((which, nth) =>
    over(which, () => it.size.maps[nth], () => it.d.counts, (...cell) => at(it.d, ...cell),
      (row, column) => view.assign({ query: it.d.axes[0][row], key: it.d.axes[1][column] }),
      (row, column) => [
        fan(it.size.fan, it.d, (nth && it.d.other?.p) || it.d.drawn, row, -1, true),
        cross(it.size.maps[nth], it.d, row, column, 4)]));
  return {
    under: canvases.map(({ node }) => node),
    over: grids.map(({ node }) => node),
    draw(d, size, width) {
      const { view: { name }, other, signed, cells } = d, [rows, columns] = d.counts, two = d.now.compare === "beside";
      it.size = layout(width, { ...size, two, signed, lines: cells && 6 + !!data.parts.bias });
      const { maps } = it.size, heads = [signed ? { name, p: d.difference } : d.view, two && other];
      grids.forEach((made, nth) => {
        const { source, place, partial, p } = heads[nth] || { p: [] }, box = maps[nth] || maps[0];
        made.node.hidden = !heads[nth];
        // Of a head whose weights are not all there, its thumbnail.
        paint(canvases[nth], box, ...(partial ? [source.small(...place), ...data.small] : [p, rows, columns, signed]));
        made.place(box, { rows, columns });
        made.go(d.i, d.j);
      });
      return [it.many && overview(it.size.overview, d), maps.map((box, nth) => box && head(box, d, heads[nth].name, signed && `minus ${other.name}`)),
        legend(it.size.legend, d), fan(it.size.fan, d, d.drawn, d.i, -1), cells && sum(it.size.sum, d)];
    },
  };
}, { attention, row }) });
