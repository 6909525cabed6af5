// What the pictures of attention have in common: the settings, the numbers that are shown, and what
// reacts to pointer and keys. The pictures (attention_pictures.js) are a script of their own, to which the page adds this module.

/* global attentionPictures */

import { button, range, select, whole } from "../shared/controls.js";
import { h, set, times } from "../shared/dom.js";
import { grid } from "../shared/grid.js";
import { heat } from "../shared/heat.js";
import { onChange } from "../shared/settings.js";
import { attention, cut, max, min, part, row, total } from "./maths.js";
import { overview, paint, thumbnails } from "./overview.js";
import { about, alternative, token, values } from "./words.js";

const PRESSED = "border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent);font-weight:650";

/** Settings that a picture does not use. */
const IDLE = { map: "measure", scores: "measure channel lines compare" };

export const fields = ({ labels: [tokens, keys], channels, choices, parts }) => {
  // More layers or heads than a finger can hit have a slider, too.
  const [layer, head] = ["Layer", "Head"].map((label, axis) => {
    const most = max(...channels.map((it) => it.size[axis]));
    return most > 6 ? range({ label, start: 0, positions: times(most, (i) => i) }) : whole(most);
  });
  return {
    layer, head, query: whole(tokens.length), key: whole(keys.length),
    held: { start: null, takes: (it) => it === null || (layer.takes(it?.[0]) && head.takes(it[1])) },
    ...Object.fromEntries(choices.map(([name, label, choices]) => {
      const [start, more] = Object.keys(choices), it = select({ label, start, choices });
      return [name, { ...it, make: more && name !== "picture" && ((on) => { // what leaves no choice has no control
        const { node, show } = it.make(on);
        return { node, show(value, { picture }) {
          node.hidden = IDLE[picture]?.includes(name);
          show(value);
        } };
      }) }];
    })),
    temperature: parts ? range({ label: "Temperature T", start: 1, positions: [0.1, 0.2, 0.5, 1, 2, 5, 10] }) : whole(2, 1),
  };
};

/** Everything that the picture shows, at these settings. */
const compute = (data, settings) => {
  const { labels, channels, parts } = data, now = { ...settings };
  const idle = { measure: "weight", compare: "off", channel: channels[0].name, lines: "8" };
  IDLE[now.picture]?.split(" ").forEach((name) => { now[name] = idle[name]; });
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
    Object.assign(it, attentionPictures["change"](it, weights, data, now));
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
  const cells = parts && !mine && now.measure === "weight" && row(parts, layer, head, rows[i], now), wide = columns.length;
  const signed = now.compare === "difference", { p } = view, its = [...part(p, i, wide)];
  const difference = other && p.map((it, at) => it - other.p[at]);
  return { ...data, now, axes, look, mine, counts: [rows.length, wide], inside, view, other, p, i, j,
    row: its, names: these(labels), quotes: these(data.quotes), difference, signed,
    partial: view.partial || other?.partial,
    drawn: signed ? difference : p,
    share: total(its) / (view.partial ? 1 : total(part(view.all, rows[i], labels[1].length))),
    cells: cells && columns.map((it) => cells[it]) };
};

/** The heads as thumbnails, tokens that react, and one of the pictures: {over, count, point, draw}. `it.size` then has
 *  places for `overview` and `tokens`. */
export const build = ({ data, view, model, signal, root, svg, moving, caption, tip, say, refresh }) => {
  const { channels, small, labels } = data;
  const canvases = times(3, heat);
  // d: what is shown; size: where.
  const it = { data, view,
    paint: (nth, ...what) => paint(canvases[nth], ...what),
    show(made, ...where) { made.node.hidden = false; made.place(...where); } };
  let under, phone;
  const [left, top] = labels.map((them) => min(9.5 * (max(...them.map((it) => it.length)) + `${them.length}`.length) + 10, 124));

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
  const thumbs = heat();
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
    return over(label, () => ({ ...it.size.tokens[side], height: 0 }), () => it.own.count(side), // its words stand above all
      (...at) => token(it.d, ...of(...at)),
      (...at) => {
        const [i, j] = of(...at), { axes: [rows, columns], now } = it.d;
        view.assign({ query: rows[i] ?? now.query, key: columns[j] ?? now.key });
      },
      (...at) => it.own.point(...of(...at)));
  });
  const many = it.many = channels.some(({ size: [layers, heads] }) => layers * heads > 1);
  const pictures = attentionPictures["pictures"](it, over);
  const grids = Object.values(pictures).flatMap(({ over }) => over);
  const drawn = data.choices[0][2];
  const tabs = Object.keys(pictures).filter((name) => drawn[name]).map((name) => [name, button(drawn[name], () => view.assign({ picture: name }))]);
  onChange(model, "full_of", signal, refresh);
  return {
    above: [h("div", { class: "lm-buttons", role: "group", "aria-label": "Draw" }, tabs.map(([, node]) => node))],
    under: [many && thumbs.node, canvases.map(({ node }) => node)],
    over: [many && chooser.node, tokens.map(({ node }) => node), grids.map(({ node }) => node)],
    table: () => values(it.d),
    draw(now, changed, width) {
      const d = it.d = compute(data, now), { source, place } = d.view, [rows, columns] = d.counts, [layers, heads] = source.size;
      if (d.partial) { // a kernel may have all weights of the layers
        model.set("wanted", [d.view, d.other].flatMap((it) => (it ? [it.of] : [])));
        try { model.save_changes(); } catch { /* a page has nobody to ask */ }
      }
      if (phone !== (phone = width < 560)) { // there, the picture is first
        const [controls] = root.getElementsByClassName("lm-controls");
        if (controls) phone ? caption.after(controls) : svg.parentNode.before(controls);
      }
      tabs.forEach(([name, node]) => set(node, name === now.picture ? { "aria-pressed": true, style: PRESSED } : { "aria-pressed": false, style: "" }));
      grids.forEach(({ node }) => { node.hidden = true; });
      canvases.forEach((it) => it.place({ x: 0, y: 0, width: 0, height: 0 })); // a picture on file has none of it either
      it.own = pictures[now.picture];
      const still = it.own.draw(d, { many, layers, heads, rows, columns, left, top }, width);
      if (many) {
        thumbnails(thumbs, it.size.overview, source.size, (...at) => (small ? source.small(...at) : d.inside(source.weights(...at))), ...(small || [rows, columns]));
        chooser.place(it.size.overview, { rows: layers, columns: heads });
        chooser.go(...place);
      }
      tokens.forEach((made, side) => {
        const [rows, columns] = it.own.count(side), at = [d.i, d.j][side];
        made.place(it.size.tokens[side], { rows, columns });
        made.go(...(rows > 1 ? [at, 0] : [0, at]));
      });
      return { height: it.size.height, caption: about(d), alt: alternative(d), still: [many && overview(it.size.overview, d), still] };
    },
  };
};
