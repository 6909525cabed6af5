// All lines of one head, or of the layer's heads, between two columns of tokens.

import { times } from "../shared/dom.js";
import { columns } from "./columns.js";
import { abs, change, max } from "./maths.js";
import { lanes, pair } from "./picture.js";

export const lines = (it) => ({
  over: [],
  count: (side) => [it.d.counts[side], 1],
  point: (i, j) => lanes(it.size, it.d, i, j, true),
  draw(d, size, width) {
    const { view, other, now } = d, { place: [layer], source } = view;
    const several = d.several = now.picture === "heads" && !other && (now.measure === "weight" || now.measure === "norm");
    d.heads = several ? times(source.size[1], (head) => d.look(d.mine, layer, head)) : [{ ...view, p: d.drawn }, ...(now.compare === "beside" ? [other] : [])];
    // Norms have no largest value: that of what is shown is 1.
    d.unit = now.measure === "norm" ? d.heads.reduce((most, { p }) => p.reduce((a, b) => max(a, abs(b)), most), 0) || 1 : 1;
    it.size = columns(width, { ...size, lanes: d.heads.length });
    return [pair(it.size, d), lanes(it.size, d, d.i, d.j)];
  },
});
