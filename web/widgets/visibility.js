// Visibility: who may look at whom, and what a mask does to one softmax.

import { checkbox, select } from "./shared/controls.js";
import { h, times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { heat } from "./shared/heat.js";
import { short } from "./shared/numbers.js";
import { visible } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { ADDED, hider, hiders, MASKS, weigh } from "./visibility/masks.js";
import { matrixView, place, rowView, treePlace, treeView } from "./visibility/view.js";
import { alternative, effect, number, pair } from "./visibility/words.js";

function read({ tree, given, ...rest }, model) {
  const tokens = model.get("tokens");
  const data = Object.fromEntries(Object.entries(rest).map(([name, it]) => [name, [...it.data]]));
  const known = { causal: true, padding: data.real.includes(0), segment: data.segment, boundary: data.selected, tree, given };
  return { ...data, tree, given, tokens, n: tokens.length, masks: Object.keys(MASKS).filter((name) => known[name]) };
}

/** Check boxes, one a mask: one setting. */
const several = (names) => ({
  start: [],
  takes: (it) => Array.isArray(it) && it.every((name) => names.includes(name)) && new Set(it).size === it.length,
  make({ onInput, onSettle }) {
    let now = [];
    const boxes = names.map((name) => checkbox({ label: MASKS[name] }).make({
      onInput: (on) => onInput(names.filter((it) => (it === name ? on : now.includes(it)))), onSettle,
    }));
    return {
      node: h("div", { class: "lm-controls", style: "grid-column:1/-1;margin:0", role: "group", "aria-label": "Masks" },
        boxes.map(({ node }) => node)),
      show(value) {
        now = value;
        names.forEach((name, k) => boxes[k].show(value.includes(name)));
      },
    };
  },
});

const fields = ({ n, masks }) => ({
  masks: several(masks),
  added: select({ label: "Added to hidden scores", start: "-inf", choices: ADDED }),
  after: checkbox({ label: "Softmax first", start: false }),
  row: { start: null, takes: (it) => it === null || (Number.isInteger(it) && it >= 0 && it < n) },
});

/** What the picture shows; the matrix only anew when a mask changed. */
function compute(data, now, codes) {
  const { n } = data;
  const row = now.row ?? (n - 1) >> 1;
  codes ??= hiders(data, now.masks);
  const hidden = [...codes.subarray(row * n, row * n + n)];
  const scores = data.scores ? data.scores.slice(row * n, row * n + n) : times(n, () => 0);
  return { data, now, row, codes, hidden, scores, weighed: weigh(scores, hidden, now), pairs: codes.filter((code) => !code).length };
}

const build = ({ data, view, tip, say }) => {
  const { n, tokens } = data;
  let it = null, box = null;
  const map = heat();
  const about = (row, column) => it && pair(it, row, column);
  const matrix = grid({
    label: "Visibility: rows are queries, columns keys", rows: n, columns: n,
    last: () => n - 1,
    describe: about,
    onPoint(row, column) {
      if (row === undefined) return tip.hide();
      tip.show(about(row, column).replace(/, (?=key)|: (?=hidden|visible)/g, "\n"), box.x + (column / n) * box.width, box.y + (row / n) * box.height);
    },
    onMove: (row, column) => say(about(row, column)),
    onPin(row, column) {
      view.set("row", row);
      view.settle();
      say(about(row, column));
    },
  });
  return {
    under: [map.node],
    over: [matrix.node],
    table: () => ({
      caption: `Query ${it.row}`,
      head: ["key", "token", "hidden by", "score", "softmax, no mask", "with the mask"],
      rows: tokens.map((token, j) => [j, visible(token), it.hidden[j] ? MASKS[hider(it.hidden[j])] : "–",
        short(it.scores[j]), short(it.weighed.before[j]), number(it.weighed.weights[j])]),
    }),
    draw(now, changed, width) {
      it = compute(data, now, changed.includes("masks") ? null : it?.codes);
      const tree = data.tree && treePlace(data, width);
      const at = place(n, width, tree ? tree.height : 0);
      ({ box } = at);
      map.place(box);
      map.paint(n, n, (pixels) => it.codes.forEach((code, k) => { pixels[k] = code ? 0x2e808080 : 0xffb27200; }));
      matrix.place(box);
      tip.hide();
      const [row, end] = rowView(it, at.row);
      return {
        height: Math.max(box.y + box.height + 6, end), alt: alternative(it), caption: effect(it),
        still: [tree && treeView(it, tree), matrixView(it, at), row],
      };
    },
  };
};

export default widget({
  name: "visibility",
  label: "Attention masks: who may look at whom",
  title: "Who may look at whom?",
  intro: "Filled is visible; a letter names the mask that hides. Choose a row to see its softmax.",
  call: "Visibility(tokens, **given, ",
  read,
  fields,
  build,
});
