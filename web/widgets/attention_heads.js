// AttentionHeads: every head of every layer, one head, one weight.

import { range, select, whole } from "./shared/controls.js";
import { grid } from "./shared/grid.js";
import { heat } from "./shared/heat.js";
import { onChange } from "./shared/settings.js";
import { widget } from "./shared/widget.js";
import { read } from "./attention_heads/data.js";
import { layout } from "./attention_heads/layout.js";
import { attention, chosen, cut, row } from "./attention_heads/maths.js";
import { cross, fan, head, legend, overview, paint, sum, thumbnails } from "./attention_heads/picture.js";
import { about, at, weight } from "./attention_heads/words.js";


function fields({ labels: [tokens, keys], channels, choices, parts }) {
  const layer = whole(Math.max(...channels.map((it) => it.layers)));
  const head = whole(Math.max(...channels.map((it) => it.heads)));
  return {
    layer, head, query: whole(tokens.length), key: whole(keys.length),
    held: { start: null, takes: (it) => it === null || (it?.length === 2 && layer.takes(it[0]) && head.takes(it[1])) },
    ...Object.fromEntries(choices.map(([name, label, texts]) =>
      [name, select({ label, start: texts[0][0], choices: Object.fromEntries(texts) })])),
    ...(parts && { temperature: range({ label: "Temperature T", start: 1, positions: [0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10] }) }),
  };
}

/** Everything that the picture shows, at these settings. */
function compute(data, settings) {
  const { labels, quotes, channels, parts } = data;
  const now = { compare: "off", between: "all", temperature: 1, masking: "given", scaling: "given", ...settings };
  const [rows, columns] = data.among(now.between);
  const these = ([a, b]) => [rows.map((it) => a[it]), columns.map((it) => b[it])];
  const inside = (p) => cut(p, labels[1].length, rows, columns);
  const mine = Math.max(0, channels.findIndex(({ name }) => name === now.channel));
  const look = (which, layer, head) => {
    const channel = channels[which];
    layer = Math.min(layer, channel.layers - 1);
    head = Math.min(head, channel.heads - 1);
    return { source: channel, layer, head, name: `Layer ${layer}, head ${head}${channels[1] ? ` of ${channel.name}` : ""}`,
      says: channel.says(layer, head), partial: channel.partial(layer),
      p: inside(channel.weights(layer, head)) };
  };
  const view = look(mine, now.layer, now.head);
  const other = now.compare === "off" ? null : (now.held || !channels[1] ? look(mine, ...(now.held ?? [view.layer, view.head]))
    : look(+!mine, ...view.source.partner(view.layer, view.head)));
  const anew = parts && !mine && `${[now.temperature, now.masking, now.scaling]}` !== "1,given,given";
  const p = anew ? inside(attention(parts, view.layer, view.head, now)) : view.p;
  const [i, j] = [rows.indexOf(now.query), columns.indexOf(now.key)].map((it) => Math.max(it, 0));
  const its = [...p.subarray(i * columns.length, (i + 1) * columns.length)];
  return { ...data, now, mine, rows, columns, inside, view, other, anew, p, i, j, row: its,
    names: these(labels), quotes: these(quotes),
    difference: other && p.map((it, at) => it - other.p[at]),
    cell: parts && !mine && row(parts, view.layer, view.head, rows[i], now)[columns[j]] };
}

const build = ({ data, view, model, signal, moving, tip, say, refresh }) => {
  let d = compute(data, view.get());
  let size = null, under = "", compared = d.now.compare;
  const maps = [heat(), heat(), heat()];
  const [left, top] = d.names.map((them) => // wide signs count twice
    Math.min(7.2 * Math.max(...them.map((it) => it.replace(/[⺀-\uffff]/g, "xx").length)) + 14, 92));

  function leave() {
    under = "";
    tip.hide();
    moving.replaceChildren();
  }
  const does = (layer, head) => `Layer ${layer}, head ${head}: ${d.view.source.says(layer, head)}`;
  /** What a grid says of its cells; it has one until it has its place. */
  const told = (describe) => ({ describe, rows: 1, columns: 1, onMove: (...it) => say(describe(...it)) });
  const heads = grid({
    label: "Heads: rows are layers, columns heads",
    ...told(does),
    last: () => d.view.source.heads - 1,
    onPoint(layer, head) {
      if (layer === undefined) return leave();
      const { x, y, pitch, tall } = size.overview;
      tip.show(does(layer, head).replace(/[:,] (?!head)/g, "\n"), x + head * pitch, y + layer * tall);
    },
    onPin: (layer, head) => view.assign({ layer, head }),
  });
  const [first, second] = ["Weights", "Other head"].map((which, nth) => grid({
    label: `${which}: rows are queries, columns keys`,
    ...told((...it) => at(d, ...it)),
    last: () => d.columns.length - 1,
    onPoint(row, column) {
      if (row === undefined) return leave();
      if (under === (under = `${row},${column}`)) return; // still the same cell
      const box = nth ? size.second : size.heat;
      tip.show(at(d, row, column).replace(/[:;] /g, "\n"),
        box.x + ((column + 1) * box.width) / d.columns.length, box.y + (row * box.height) / d.rows.length);
      const { lines } = d.now;
      moving.replaceChildren(...[
        size.fan && row !== d.i && fan(size.fan, d, row, lines === "100%" ? "8" : lines, true),
        cross(box, d, row, column)].flat(3).filter(Boolean));
    },
    onPin: (row, column) => view.assign({ query: d.rows[row], key: d.columns[column] }),
  }));

  const many = data.channels.some(({ layers, heads }) => layers * heads > 1);
  if (data.small) onChange(model, "full_of", signal, refresh);
  const thumb = (layer, head) => {
    const { small, weights } = d.view.source;
    return small ? small(layer, head) : d.inside(weights(layer, head));
  };

  return {
    under: maps.slice(+!many).map(({ node }) => node),
    over: [many && heads.node, first.node, second.node],
    table: () => ({
      caption: `${d.view.name}: ${d.quotes[0][d.i]}, token ${d.rows[d.i]}`,
      head: ["Place", "Key", "Weight", d.other?.name],
      rows: d.columns.map((place, j) => [place, d.names[1][j], weight(d.row[j]),
        d.other && weight(d.other.p[d.i * d.columns.length + j])]),
    }),
    draw(now, changed, width) {
      d = compute(data, now);
      // Who turns comparing on, holds the head that is there: the next one stands beside it.
      if (!data.channels[1] && compared === "off" && d.other && !changed.includes("held")) {
        view.set("held", [d.view.layer, d.view.head]);
      }
      compared = d.now.compare;
      if (d.view.partial) { // a kernel may have all weights of the layer
        model.set("wanted", [d.mine, d.view.layer]);
        try { model.save_changes(); } catch { /* a page has nobody to ask */ }
      }
      const two = compared === "beside", signed = compared === "difference";
      const { source } = d.view;
      const [rows, columns] = [d.rows.length, d.columns.length];
      size = layout(width, { ...source, many, rows, columns, left, top, two, lines: d.cell && 6 + !!data.parts.bias });
      leave();
      if (many) {
        thumbnails(maps[0], size.overview, source, thumb, ...(data.small || [rows, columns]));
        heads.place(size.overview, { rows: source.layers, columns: source.heads });
        heads.go(d.view.layer, d.view.head);
      }
      second.node.hidden = !two;
      const show = (canvas, map, place, p) => {
        paint(canvas, place, p, rows, columns, signed);
        map.place(place, { rows, columns });
        map.go(d.i, d.j);
      };
      show(maps[1], first, size.heat, signed ? d.difference : d.p);
      show(maps[2], second, size.second || size.heat, two ? d.other.p : []);
      const caption = about(d, chosen(d.row, d.now.lines));
      return {
        height: size.height, caption,
        alt: `${source.layers} × ${source.heads} heads. ${caption} Pinned: ${at(d, d.i, d.j)}. Lines: ${d.now.lines}; segments: ${d.now.between}.`,
        still: [
          many && overview(size.overview, d), head(size.heat, d, d.view.name + (signed ? ` minus ${d.other.name}` : "")),
          two && head(size.second, d, d.other.name), legend(size.legend, signed),
          size.fan && fan(size.fan, d, d.i, d.now.lines), d.cell && sum(size.sum, d)],
      };
    },
  };
};

export default widget({
  name: "attention-heads",
  label: "Attention heads",
  title: "Where does each token look?",
  intro: "Choose a head, then a row: the lines show where that token looks.",
  call: "AttentionHeads(**given, ",
  read,
  fields,
  build,
});
