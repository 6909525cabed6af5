// AttentionHeads: every head of every layer, one head, one weight.

import { range, select, whole } from "./shared/controls.js";
import { times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { heat } from "./shared/heat.js";
import { onChange } from "./shared/settings.js";
import { widget } from "./shared/widget.js";
import { read } from "./attention_heads/data.js";
import { layout } from "./attention_heads/layout.js";
import { attention, chosen, cut, max, min, part, row, total } from "./attention_heads/maths.js";
import { cross, fan, head, legend, overview, paint, sum, thumbnails } from "./attention_heads/picture.js";
import { about, alternative, at, values } from "./attention_heads/words.js";

function fields({ labels: [tokens, keys], channels, choices, parts }) {
  /** A layer or a head; more of them than a finger can hit have a slider, too. */
  const counted = (label, counts) => {
    const most = max(...counts);
    return most > 6 ? range({ label, start: 0, positions: times(most, (i) => i) }) : whole(most);
  };
  const layer = counted("Layer", channels.map((it) => it.layers)), head = counted("Head", channels.map((it) => it.heads));
  return {
    layer, head, query: whole(tokens.length), key: whole(keys.length),
    held: { start: null, takes: (it) => it === null || (it?.length === 2 && layer.takes(it[0]) && head.takes(it[1])) },
    ...Object.fromEntries(choices.map(([name, label, texts]) => // what leaves no choice has no control
      [name, { ...select({ label, start: texts[0][0], choices: Object.fromEntries(texts) }), ...(!texts[1] && { make: 0 }) }])),
    temperature: parts ? range({ label: "Temperature T", start: 1, positions: [0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10] }) : { start: 1, takes: (it) => it === 1 },
  };
}

/** Everything that the picture shows, at these settings. */
function compute(data, now) {
  const { labels, quotes, channels, parts } = data;
  const [rows, columns] = data.among(now.between);
  const these = ([a, b]) => [rows.map((it) => a[it]), columns.map((it) => b[it])];
  const inside = (p) => cut(p, labels[1].length, rows, columns);
  const mine = channels.findIndex(({ name }) => name === now.channel);
  const look = (which, layer, head) => {
    const source = channels[which];
    const exact = parts && !which; // computed, as no byte holds it
    const place = [min(layer, source.layers - 1), min(head, source.heads - 1)];
    const all = exact ? attention(parts, ...place, now) : source.weights(...place);
    const partial = !exact && source.partial(place[0]);
    return { source, place, all, partial, p: inside(all), says: source.says(...place) + (partial ? data.notes[1] : ""), of: [which, place[0]],
      name: `Layer ${place[0]}, head ${place[1]}${channels[1] ? ` of ${source.name}` : ""}${
        exact && `${[now.temperature, now.masking, now.scaling]}` !== "1,given,given" ? ", recomputed" : ""}` };
  };
  const view = look(mine, now.layer, now.head);
  const { place: [layer, head], source } = view, { layers, heads } = source;
  const held = now.held && look(mine, ...now.held);
  const other = now.compare === "off" ? null
    : held && `${held.place}` !== `${view.place}` ? held // nothing is compared with itself
      : channels[1] ? look(+!mine, ...source.partner(layer, head))
        : look(0, ...(heads > 1 ? [layer, (head + 1) % heads] : [(layer + 1) % layers, 0]));
  const [i, j] = [rows.indexOf(now.query), columns.indexOf(now.key)].map((it) => max(it, 0));
  const its = [...part(view.p, i, columns.length)];
  const cells = parts && !mine && row(parts, layer, head, rows[i], now);
  return { ...data, now, rows, columns, counts: [rows.length, columns.length], inside, view, other, p: view.p, i, j,
    row: its, names: these(labels), quotes: these(quotes),
    share: total(its) / (view.partial ? 1 : total(part(view.all, rows[i], labels[1].length))),
    difference: other && view.p.map((it, at) => it - other.p[at]),
    cells: cells && columns.map((it) => cells[it]) };
}

const build = ({ data, view, model, signal, moving, tip, say, refresh }) => {
  const { channels, small, labels, parts } = data;
  let d, size, under;
  const maps = times(3, heat);
  const [left, top] = labels.map((them) => min(8 * (max(...them.map((it) => it.length)) + `${them.length}`.length) + 14, 118));

  /** A grid over what is there, `count()` rows and columns of it; it has one cell until it has its place. */
  const over = (label, box, count, describe, onPin, also) => grid({
    label, describe, onPin, rows: 1, columns: 1, last: () => count()[1] - 1, onMove: (...it) => say(describe(...it)),
    onPoint(row, column) {
      if (under === (under = `${label}${row},${column}`)) return; // still the same cell
      moving.replaceChildren(...(row >= 0 && also ? also(row, column) : []).flat(3).filter(Boolean));
      if (!(row >= 0)) return tip.hide();
      const { x, y, width, height } = box(), [rows, columns] = count();
      tip.show(describe(row, column).replace(/[:;] /g, "\n"), x + ((column + 1) * width) / columns, y + (row * height) / rows);
    },
  });
  const heads = over("Heads by layer", () => size.overview,
    () => [d.view.source.layers, d.view.source.heads],
    (layer, head) => `Layer ${layer}, head ${head}: ${d.view.source.says(layer, head)}`,
    // While heads are compared, the one that was there stays beside the next.
    (layer, head) => view.assign({ layer, head,
      held: d.other && (d.now.held ?? (channels[1] ? null : d.view.place)) }));
  const [first, second] = ["Weights", "Other head"].map((which, nth) =>
    over(`${which} by query and key`, () => (nth ? size.second : size.heat), () => d.counts, (...it) => at(d, ...it),
      (row, column) => view.assign({ query: d.rows[row], key: d.columns[column] }),
      (row, column) => [
        (nth || row !== d.i) && fan(size.fan, nth ? { ...d, ...d.other } : d, row, "8", true),
        cross(nth ? size.second : size.heat, d, row, column, "4 3")]));

  const many = channels.some(({ layers, heads }) => layers * heads > 1);
  onChange(model, "full_of", signal, refresh);

  /** A head's map; of one whose weights are not all there, its thumbnail. */
  function show(canvas, map, box, { source, place, partial, p }, signed) {
    const [rows, columns] = d.counts;
    paint(canvas, box, ...(partial ? [source.small(...place), ...small] : [p, rows, columns, signed]));
    map.place(box, { rows, columns });
    map.go(d.i, d.j);
  }

  return {
    under: maps.slice(+!many).map(({ node }) => node),
    over: [many && heads.node, first.node, second.node],
    table: () => values(d),
    draw(now, changed, width) {
      d = compute(data, now);
      const shown = [d.view, d.other].filter(Boolean);
      if ((d.partial = shown.some((it) => it.partial))) { // a kernel may have all weights of the layers
        model.set("wanted", shown.map((it) => it.of));
        try { model.save_changes(); } catch { /* a page has nobody to ask */ }
      }
      const { compare, lines } = d.now, { source, name } = d.view;
      const two = compare === "beside", signed = (d.signed = compare === "difference");
      const [rows, columns] = d.counts;
      size = layout(width, { ...source, many, rows, columns, left, top, two, signed, lines: d.cells && 6 + !!parts.bias });
      if (many) {
        thumbnails(maps[0], size.overview, source, (...it) => (small ? source.small(...it) : d.inside(source.weights(...it))), ...(small || [rows, columns]));
        heads.place(size.overview, { rows: source.layers, columns: source.heads });
        heads.go(...d.view.place);
      }
      second.node.hidden = !two;
      show(maps[1], first, size.heat, signed ? { p: d.difference } : d.view, signed);
      show(maps[2], second, size.second || size.heat, two ? d.other : { p: [] });
      const caption = about(d, chosen(d.row, lines));
      return {
        height: size.height, caption, alt: alternative(d, caption),
        still: [
          many && overview(size.overview, d), head(size.heat, d, name, signed && `minus ${d.other.name}`),
          two && head(size.second, d, d.other.name), legend(size.legend, signed, d.view.partial && d.notes[2]),
          fan(size.fan, d, d.i, lines), d.cells && sum(size.sum, d)],
      };
    },
  };
};

export default widget({
  name: "attention-heads",
  label: "Attention heads",
  title: "What does each token attend to?",
  intro: "Choose a head, then a token’s row.",
  call: "AttentionHeads(**given, ",
  read,
  fields,
  build,
});
