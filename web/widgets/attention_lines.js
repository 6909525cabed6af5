// AttentionHeads with picture="lines" or "heads": two columns of tokens, and every token's lines.

import { times } from "./shared/dom.js";
import { short } from "./shared/numbers.js";
import { widget } from "./shared/widget.js";
import { read } from "./attention_heads/data.js";
import { columns } from "./attention_heads/columns.js";
import { entropy, max, mean, part, rollout, scaled, total } from "./attention_heads/maths.js";
import { lanes, overview, pair } from "./attention_heads/picture.js";
import { parts, same } from "./attention_heads/view.js";

/** What is shown in place of one head's weights. */
const change = ({ place, source, name }, weights, { labels }, { measure }) => {
  const [layer] = place, [queries, { length: count }] = labels;
  if (measure === "weight") return;
  if (measure === "norm") return { all: scaled(weights(...place), source.part("norms", ...place)), name: `${name}, × norm` };
  const all = { mean, rollout }[measure](weights, layer, source.size[1]);
  const rows = times(queries.length, (i) => part(all, i, count)).filter(total);
  return { all, name: measure === "mean" ? `Layer ${layer}, mean of heads` : `Rollout to layer ${layer}`,
    says: `mean entropy ${short(rows.reduce((bits, it) => bits + entropy(it) / rows.length, 0))} bits` };
};

export default widget({ ...same, read, build: parts((it) => {
  const { data } = it;
  it.count = (side) => [it.d.counts[side], 1];
  it.point = (i, j) => lanes(it.size, it.d, i, j, true);
  return {
    draw(d, size, width) {
      const { view, other, now } = d, { place: [layer], source } = view;
      const several = d.several = now.picture === "heads" && !other && (now.measure === "weight" || now.measure === "norm");
      d.heads = several ? times(source.size[1], (head) => {
        const it = { place: [layer, head], source };
        return { ...it, p: d.inside((change(it, source.weights, data, now) ?? { all: source.weights(layer, head) }).all) };
      }) : [{ ...view, p: d.drawn }, ...(now.compare === "beside" ? [other] : [])];
      // Norms have no largest value: that of what is shown is 1.
      d.unit = now.measure === "norm" ? d.heads.reduce((most, { p }) => p.reduce((a, b) => max(a, Math.abs(b)), most), 0) || 1 : 1;
      it.size = columns(width, { ...size, lanes: d.heads.length });
      return [it.many && overview(it.size.overview, d), pair(it.size, d), lanes(it.size, d, d.i, d.j)];
    },
  };
}, { change }) });
