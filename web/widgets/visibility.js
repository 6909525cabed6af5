// Visibility: who may look at whom, and what a mask does to one softmax.

import { checkbox, range, select, whole } from "./shared/controls.js";
import { h, times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { heat } from "./shared/heat.js";
import { short } from "./shared/numbers.js";
import { sentence } from "./shared/sentence.js";
import { visible } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { ADDED, bit, hider, hiders, known, MASKS, weigh } from "./visibility/masks.js";
import { MOST_TOKENS, treeOf } from "./visibility/tree.js";
import { matrixView, place, rowView, treePlace, treeView } from "./visibility/view.js";
import { alternative, effect, number, pair } from "./visibility/words.js";

/** The given text, or what a reader makes of it. */
function read({ tree, given, ...rest }, model) {
  const tokens = model.get("tokens"), written = model.get("written");
  const data = Object.fromEntries(Object.entries(rest).map(([name, it]) => [name, [...it.data]]));
  const first = { ...data, tree: bit(tree), given: bit(given), tokens, n: tokens.length };
  const padded = written || data.real.includes(0);
  let last = first, text = written;
  return {
    first, typed: written, masks: known({ ...first, real: padded }, Object.keys(MASKS)),
    of(now = written) {
      if (now !== text) last = now === written ? first : treeOf(now);
      text = now;
      return last;
    },
  };
}

/** Check boxes, one a mask: one setting. */
const several = (source, names) => ({
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
      show(value, { text }) {
        now = value;
        const some = known(source.of(text), names);
        names.forEach((name, k) => {
          boxes[k].show(value.includes(name));
          boxes[k].node.hidden = !some.includes(name);
        });
      },
    };
  },
});

/** A slider over the queries, of which an edited sentence has more, or fewer. */
const queries = (source) => ({
  ...whole(source.typed ? MOST_TOKENS : source.first.n, null),
  make(hear) {
    const { node, show } = range({ label: "Query", positions: times(MOST_TOKENS, (i) => i) }).make(hear);
    return {
      node,
      show(row, { text }) {
        const { n } = source.of(text);
        node.querySelector("input").max = n - 1;
        show(rowOf(n, row));
      },
    };
  },
});

const rowOf = (n, row) => Math.min(row ?? (n - 1) >> 1, n - 1);

const fields = (source) => ({
  ...(source.typed && { text: sentence({
    label: "Your sentence", start: source.typed, most: 4000, live: true,
    rule: "After a word, [facts about it]; (several words) are one entity.",
    wrong: (text) => (text === source.typed ? "" : treeOf(text).wrong ?? ""),
  }) }),
  masks: several(source, source.masks),
  added: select({ label: "Added to hidden scores", start: "-inf", choices: ADDED }),
  after: checkbox({ label: "Softmax first", start: false }),
  row: queries(source),
});

/** What the picture shows; the matrix only anew when a mask or the sentence changed. */
function compute(source, now, codes) {
  const data = source.of(now.text), { n } = data;
  const row = rowOf(n, now.row), masks = known(data, now.masks);
  codes ??= hiders(data, masks);
  const hidden = [...codes.subarray(row * n, row * n + n)];
  const scores = data.scores ? data.scores.slice(row * n, row * n + n) : times(n, () => 0);
  return { data, now, masks, row, codes, hidden, scores, weighed: weigh(scores, hidden, now), pairs: codes.filter((code) => !code).length };
}

const build = ({ data: source, view, tip, say }) => {
  let it = null, box = null;
  const map = heat();
  const about = (row, column) => it && pair(it, row, column);
  const matrix = grid({
    label: "Visibility: rows are queries, columns keys", rows: 1, columns: 1,
    last: () => (it ? it.data.n - 1 : 0),
    describe: about,
    onPoint(row, column) {
      if (row === undefined) return tip.hide();
      tip.show(about(row, column).replace(/, (?=key)|: (?=hidden|visible)/g, "\n"), box.x + (column / it.data.n) * box.width, box.y + (row / it.data.n) * box.height);
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
      rows: it.data.tokens.map((token, j) => [j, visible(token), it.hidden[j] ? MASKS[hider(it.hidden[j])] : "–",
        short(it.scores[j]), short(it.weighed.before[j]), number(it.weighed.weights[j])]),
    }),
    draw(now, changed, width) {
      it = compute(source, now, changed.includes("masks") || changed.includes("text") ? null : it?.codes);
      const { data } = it, { n } = data;
      const tree = data.tree && treePlace(data, width);
      const at = place(n, width, tree ? tree.height : 0);
      ({ box } = at);
      map.place(box);
      map.paint(n, n, (pixels) => it.codes.forEach((code, k) => { pixels[k] = code ? 0x2e808080 : 0xffb27200; }));
      matrix.place(box, { rows: n, columns: n });
      tip.hide();
      const [row, end] = rowView(it, at.row);
      return {
        height: Math.max(at.end, end), alt: alternative(it), caption: effect(it),
        still: [tree && treeView(it, tree), matrixView(it, at), row],
      };
    },
  };
};

export default widget({
  name: "visibility",
  label: "Attention masks: which token attends to which",
  title: "Which token may attend to which?",
  intro: "Filled cells are visible. Choose a row to see its softmax.",
  call: "Visibility(tokens, **given, ",
  read,
  fields,
  build,
});
