// Masking: which tokens a model has to guess, what replaces them, and how well it guesses.

import { button, checkbox, range, select, whole } from "./shared/controls.js";
import { h, times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { player } from "./shared/player.js";
import { sentence } from "./shared/sentence.js";
import { shortened, visible } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { draw as drawn } from "./masking/draws.js";
import { MOST_TOKENS, read, split } from "./masking/text.js";
import { picture, place } from "./masking/view.js";
import { about, alternative, effect, nats, rowOf, inputAt } from "./masking/words.js";

const EPOCHS = 10;

/** A slider for draws that are made here: hidden beside given ones. */
function share(label, start, count) {
  const field = range({ label, start, positions: times(count + 1, (i) => +(i / count).toFixed(2)) });
  return {
    ...field,
    make(hear) {
      const { node, show } = field.make(hear);
      return { node, show(value, { kind }) { show(value, node.hidden = kind === "given"); } };
    },
  };
}

function fields(source) {
  const { draws, mask, n } = source;
  const choices = { ...(draws.length && { given: "given" }), token: "tokens", word: "whole words", span: "spans (SpanBERT)" };
  const wrong = (text) => {
    const { length } = split(text);
    return text === source.own || (length && length <= MOST_TOKENS) ? "" : `The text has ${length} tokens: write 1 to ${MOST_TOKENS}.`;
  };
  return {
    ...(!draws.length && { text: sentence({
      label: "Your sentence", start: "", most: 4000, live: !source.kernel, wrong,
      rule: "Spaces separate words; punctuation marks are tokens.",
    }) }),
    kind: select({ label: "Draw", start: Object.keys(choices)[0], choices }),
    rate: share("Select", 0.15, 100),
    masked: share(`Of these: ${shortened(mask)}`, 0.8, 20),
    random: share("Random word", 0.1, 20),
    dynamic: checkbox({ label: "Dynamic masking", start: true }),
    seed: whole(1e6),
    epoch: whole(Math.max(EPOCHS, draws.length)),
    position: whole(draws.length ? n : MOST_TOKENS, null),
  };
}

/** What the picture shows. */
function compute(source, now) {
  const data = source.of(now.text);
  const { special, truth, readers: { length } } = data;
  const given = now.kind === "given";
  const draws = times(given ? data.draws.length : EPOCHS, (e) =>
    (given ? data.draws[now.dynamic ? e : 0] : drawn(data, now, now.dynamic ? e : 0)));
  const epoch = Math.min(now.epoch, draws.length - 1);
  const { actions, substitutes } = draws[epoch];
  const it = {
    data, now, given, draws, epoch, actions, substitutes, eligible: special.filter((never) => !never).length,
    counts: [0, 1, 2, 3].map((action) => actions.filter((found) => (action ? found === action : found)).length),
  };
  // At first, of the selected, the one where the exact answer knows the token and the model does not.
  const gain = (i) => {
    const at = rowOf(it, i) * length;
    return at < 0 || !length ? -2 : truth[at] - (length > 1 && truth[at + 1]);
  };
  const [first = 0] = times(data.n, (i) => i).filter((i) => actions[i]).sort((a, b) => gain(b) - gain(a));
  it.chosen = (now.position < data.n ? now.position : null) ?? first;
  return it;
}

const build = ({ data: source, view, signal, tip, say, refresh }) => {
  let it = null, at = { columns: 1 };
  source.onAnswer(signal, refresh);
  const time = player({ view, name: "epoch", last: () => it.draws.length - 1, signal });
  const again = button("Draw again", () => {
    view.set("seed", (view.get().seed + 1) % 1e6);
    view.settle();
  });

  /** A grid whose cells have words, and whose pin is a setting. */
  const walked = (label, last, words, box, pin) => grid({
    label, rows: 1, columns: 1, last: (row) => (it ? last(row, it.data.n) : 0),
    describe: (row, column) => (it ? words(row, column) : ""),
    onPoint(row, column) {
      if (row === undefined) return tip.hide();
      const [{ x, y, width, height }, down, across] = box();
      tip.show(words(row, column).replace(/: (?=−|no loss)/, ":\n"), x + (column / across) * width, y + (row / down) * height);
    },
    onMove: (row, column) => say(words(row, column)),
    onPin(row, column) {
      view.set(...pin(row, column));
      view.settle();
      say(words(row, column));
    },
  });
  const index = (row, column) => row * at.columns + column;
  const cells = walked("Tokens", (row, n) => Math.min(at.columns, n - row * at.columns) - 1,
    (row, column) => about(it, index(row, column)) + nats(it, index(row, column)),
    () => [at.cells, at.rows, at.columns],
    (row, column) => ["position", index(row, column)]);
  const epochs = walked("Epochs: each row is a draw, each column a token", (_, n) => n - 1,
    (row, column) => `Epoch ${row}: ${about({ ...it, ...it.draws[row] }, column)}`,
    () => [at.strip, it.draws.length, it.data.n],
    (row) => ["epoch", row]);
  return {
    above: [h("div", { class: "lm-buttons" }, again)],
    over: [cells.node, epochs.node],
    below: [time.node],
    table: () => ({
      caption: `Epoch ${it.epoch}`,
      head: ["position", "token", "model input", "selected", "−log p, if masked"],
      rows: it.data.tokens.map((token, i) => [i, visible(token), visible(inputAt(it, i)),
        it.actions[i] ? "yes" : "no loss", nats(it, i).replace(/.*p /, "") || "–"]),
    }),
    draw(now, changed, width) {
      it = compute(source, now);
      at = place(it, width);
      cells.place(at.cells, at);
      epochs.place(at.strip, { rows: it.draws.length, columns: it.data.n });
      tip.hide();
      again.hidden = it.given;
      time.update();
      return { ...picture(it, at, width), alt: alternative(it), caption: effect(it) };
    },
  };
};

export default widget({
  name: "masking",
  label: "Masked language modeling: which tokens are predicted",
  title: "Which tokens does the model predict?",
  intro: "Colored tokens are predicted: click one to see how well. Draw again for others.",
  call: "Masking(tokens, **given, ",
  read,
  fields,
  build,
});
