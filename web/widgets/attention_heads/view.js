// What both pictures of attention have in common: the settings, the numbers that are shown, and what
// reacts to pointer and keys. Of its three pictures, each is a
// module: the map (attention_heads.js), all lines (attention_lines.js), the scores (attention_scores.js).

import { range, select, whole } from "../shared/controls.js";
import { times } from "../shared/dom.js";
import { grid } from "../shared/grid.js";
import { heat } from "../shared/heat.js";
import { onChange } from "../shared/settings.js";
import { cut, max, min, part, total } from "./maths.js";
import { thumbnails } from "./picture.js";
import { about, alternative, token, values } from "./words.js";

const fields = ({ labels: [tokens, keys], channels, choices, parts }) => {
  // More layers or heads than a finger can hit have a slider, too.
  const [layer, head] = ["Layer", "Head"].map((label, axis) => {
    const most = max(...channels.map((it) => it.size[axis]));
    return most > 6 ? range({ label, start: 0, positions: times(most, (i) => i) }) : whole(most);
  });
  return {
    layer, head, query: whole(tokens.length), key: whole(keys.length),
    held: { start: null, takes: (it) => it === null || (layer.takes(it?.[0]) && head.takes(it[1])) },
    ...Object.fromEntries(choices.map(([name, label, choices]) => { // what leaves no choice has no control
      const [start, more] = Object.keys(choices);
      return [name, { ...select({ label, start, choices }), ...(!more && { make: 0 }) }];
    })),
    temperature: parts ? range({ label: "Temperature T", start: 1, positions: [0.1, 0.2, 0.5, 1, 2, 5, 10] }) : whole(2, 1),
  };
};

/**
 * Everything that the picture shows, at these settings.
 *
 * @param attention, row as in maths.js, of a picture that computes weights anew. @param change (head, its weights, data, now) → what
 *   is shown in place of it, of one that shows other numbers: {all, name, says?}.
 */
const compute = (data, now, { attention, row, change }) => {
  const { labels, channels, parts } = data;
  const axes = data.among(now.between), [rows, columns] = axes; // the tokens that are shown
  const these = (all) => axes.map((them, side) => them.map((it) => all[side][it]));
  const inside = (p) => cut(p, labels[1].length, rows, columns);
  const mine = channels.findIndex(({ name }) => name === now.channel);
  const look = (which, layer, head) => {
    const source = channels[which];
    const exact = parts && !which; // computed, as no byte holds it
    const place = [min(layer, source.size[0] - 1), min(head, source.size[1] - 1)];
    const weights = (...at) => (exact ? attention(parts, ...at, now) : source.weights(...at));
    const partial = !exact && source.partial(place[0]);
    const it = { source, place, partial, all: weights(...place), of: [which, place[0]],
      says: source.says(...place) + (partial ? data.notes[1] : ""), name: `Layer ${place[0]}, head ${place[1]}` };
    if (change) Object.assign(it, change(it, weights, data, now));
    it.p = inside(it.all);
    it.name += (channels[1] ? ` of ${source.name}` : "") +
      (exact && `${[now.temperature, now.masking, now.scaling]}` !== "1,given,given" ? ", recomputed" : "");
    return it;
  };
  const view = look(mine, now.layer, now.head);
  const { place: [layer, head], source } = view, [layers, heads] = source.size;
  const held = now.held && look(mine, ...now.held);
  const other = now.compare === "off" ? null
    : held && held.name !== view.name ? held // nothing is compared with itself
      : channels[1] ? look(+!mine, ...source.partner(layer, head))
        : look(0, ...(heads > 1 ? [layer, (head + 1) % heads] : [(layer + 1) % layers, 0]));
  const [i, j] = [rows.indexOf(now.query), columns.indexOf(now.key)].map((it) => max(it, 0));
  const cells = parts && !mine && row(parts, layer, head, rows[i], now), wide = columns.length;
  const signed = now.compare === "difference", { p } = view, its = [...part(p, i, wide)];
  const difference = other && p.map((it, at) => it - other.p[at]);
  return { ...data, now, axes, counts: [rows.length, wide], inside, view, other, p, i, j,
    row: its, names: these(labels), quotes: these(data.quotes), difference, signed,
    partial: view.partial || other?.partial,
    drawn: signed ? difference : p,
    share: total(its) / (view.partial ? 1 : total(part(view.all, rows[i], labels[1].length))),
    cells: cells && columns.map((it) => cells[it]) };
};

/**
 * The parts of a widget whose picture is `draw`n: with the heads as thumbnails, and tokens that react.
 *
 * @param more (it, over) → {fan, cross?, draw}: of a picture, its own canvases (`under`) and grids (`over`), and how
 *   it is drawn; `it.size` then has places for `overview` and `tokens`. @param maths as for `compute`
 */
export const parts = (more, maths) => ({ data, view, model, signal, moving, tip, say, refresh }) => {
  const { channels, small, labels } = data;
  const it = { data, view }; // d: what is shown; size: where
  let under;
  const [left, top] = labels.map((them) => min(8 * (max(...them.map((it) => it.length)) + `${them.length}`.length) + 14, 118));

  /** A grid over what is there, `count()` rows and columns of it; it has one cell until it has its place. */
  const over = (label, box, count, describe, onPin, also) => {
    const onPoint = (row, column) => {
      if (under === (under = `${label}${row},${column}`)) return; // still the same cell
      const place = row >= 0 && box();
      moving.replaceChildren(...(place && also ? also(row, column) : []).flat(9).filter(Boolean));
      if (!place) return tip.hide();
      const { x, y, width, height } = place, [rows, columns] = count();
      tip.show(describe(row, column).replace(/[:;] /g, "\n"), x + ((column + 1) * width) / columns, y + (row * height) / rows);
    };
    const made = grid({ label, describe, onPin, onPoint, rows: 1, columns: 1, last: () => count()[1] - 1,
      onMove(...at) { say(describe(...at)); onPoint(...at); } });
    made.node.addEventListener("focusout", () => onPoint());
    return made;
  };
  const map = heat();
  const chooser = over("Heads", () => it.size.overview,
    () => it.d.view.source.size,
    (layer, head) => `Layer ${layer}, head ${head}: ${it.d.view.source.says(layer, head)}`,
    // While heads are compared, the one that was there stays beside the next.
    (layer, head) => view.assign({ layer, head,
      held: it.d.other && (it.d.now.held ?? (channels[1] ? null : it.d.view.place)) }));
  /** A token as a query and, if keys are the same tokens, as a key: its row and its column. */
  const tokens = ["Queries", "Keys"].map((label, side) => {
    const of = (...at) => {
      const { axes } = it.d, token = axes[side][max(...at)];
      return axes.map((them, other) => (other === side || data.same ? them.indexOf(token) : -1));
    };
    return over(label, () => ({ ...it.size.tokens[side], height: 0 }), () => it.count(side), // its words stand above all
      (...at) => token(it.d, ...of(...at)),
      (...at) => {
        const [i, j] = of(...at), { axes: [rows, columns], now } = it.d;
        view.assign({ query: rows[i] ?? now.query, key: columns[j] ?? now.key });
      },
      (...at) => it.point(...of(...at)));
  });
  const many = it.many = channels.some(({ size: [layers, heads] }) => layers * heads > 1);
  const own = more(it, over);
  onChange(model, "full_of", signal, refresh);
  return {
    under: [many && map.node, own.under],
    over: [many && chooser.node, tokens.map(({ node }) => node), own.over],
    table: () => values(it.d),
    draw(now, changed, width) {
      const d = it.d = compute(data, now, maths), { source, place } = d.view, [rows, columns] = d.counts, [layers, heads] = source.size;
      if (d.partial) { // a kernel may have all weights of the layers
        model.set("wanted", [d.view, d.other].flatMap((it) => (it ? [it.of] : [])));
        try { model.save_changes(); } catch { /* a page has nobody to ask */ }
      }
      const still = own.draw(d, { many, layers, heads, rows, columns, left, top }, width);
      if (many) {
        thumbnails(map, it.size.overview, source.size, (...at) => (small ? source.small(...at) : d.inside(source.weights(...at))), ...(small || [rows, columns]));
        chooser.place(it.size.overview, { rows: layers, columns: heads });
        chooser.go(...place);
      }
      tokens.forEach((made, side) => {
        const [rows, columns] = it.count(side), at = [d.i, d.j][side];
        made.place(it.size.tokens[side], { rows, columns });
        made.go(...(rows > 1 ? [at, 0] : [0, at]));
      });
      return { height: it.size.height, caption: about(d), alt: alternative(d), still };
    },
  };
};

const TITLE = "What does each token attend to?";

/** What is the same for all. */
export const same = {
  name: "attention-heads",
  label: TITLE, title: TITLE,
  intro: "Point at a token or a head.",
  call: "AttentionHeads(**given, ",
  fields,
};
