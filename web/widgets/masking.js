// Masking: which tokens a model has to guess, what stands in their place, and how well it guesses.

import { button, checkbox, range, select } from "./shared/controls.js";
import { times } from "./shared/dom.js";
import { grid } from "./shared/grid.js";
import { player } from "./shared/player.js";
import { quoted, visible } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { draw as drawn } from "./masking/draws.js";
import { picture, place } from "./masking/view.js";
import { about, alternative, effect, nats, rowOf } from "./masking/words.js";

const EPOCHS = 10;

/** Typed arrays by name, those of two axes as lists of rows. */
function read(arrays, model) {
  const { special, word, fates, stands, shown, ...rest } = arrays;
  const tokens = model.get("tokens");
  const n = tokens.length;
  const rows = (it) => times(it?.shape[0] ?? 0, (e) => [...it.data.subarray(e * n, (e + 1) * n)]);
  const chosen = rows(fates);
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, { data }]) => [name, data])),
    n, tokens, words: model.get("words"), mask: model.get("mask_token"),
    draws: rows(stands).map((row, e) => ({ fates: chosen[e], stands: row })),
    text: { words: [...word.data], special: special.data, pool: model.get("pool") },
    special: special.data, shown: shown?.data, count: shown?.shape[2],
    readers: ["model", "exact"].filter((name) => arrays[name]),
  };
}

const whole = (below, start) => ({
  start,
  takes: (it) => (start === null && it === null) || (Number.isInteger(it) && it >= 0 && it < below),
});

const share = (label, start, count) =>
  range({ label, start, positions: times(count + 1, (i) => Number((i / count).toFixed(2))) });

function fields({ n, draws }) {
  const choices = { ...(draws.length && { given: "given" }), token: "tokens", word: "whole words", span: "spans (SpanBERT)" };
  return {
    kind: select({ label: "Draw", start: Object.keys(choices)[0], choices }),
    rate: share("Select", 0.15, 100),
    masked: share("Of these: [MASK]", 0.8, 20),
    random: share("Random word", 0.1, 20),
    dynamic: checkbox({ label: "Dynamic masking", start: true }),
    seed: whole(1e6, 0),
    epoch: whole(Math.max(EPOCHS, draws.length), 0),
    position: whole(n, null),
  };
}

/** What the picture shows. */
function compute(data, now) {
  const { tokens, special, mask, words } = data;
  const given = now.kind === "given";
  const draws = times(given ? data.draws.length : EPOCHS, (e) =>
    (given ? data.draws[now.dynamic ? e : 0] : drawn(data.text, now, now.dynamic ? e : 0)));
  const epoch = Math.min(now.epoch, draws.length - 1);
  const { fates, stands } = draws[epoch];
  const it = {
    data, now, given, draws, epoch, fates, eligible: special.filter((never) => !never).length,
    counts: [0, 1, 2, 3].map((fate) => fates.filter((found) => (fate ? found === fate : found)).length),
    standing: (i) => [tokens[i], mask, words[stands[i]], tokens[i]][fates[i]],
  };
  const selected = times(data.n, (i) => i).filter((i) => fates[i]);
  // At first, of the selected, the one that is hardest by the last reader's account.
  const p = (i) => (rowOf(it, i) < 0 ? 2 : data.truth[(rowOf(it, i) + 1) * data.readers.length - 1]);
  it.position = now.position ?? selected.sort((a, b) => p(a) - p(b))[0] ?? 0;
  return it;
}

const build = ({ data, view, signal, tip, say }) => {
  const { n, tokens, mask } = data;
  let it = null, at = { columns: 1 };
  const time = player({ view, name: "epoch", last: () => it.draws.length - 1, signal });
  const again = button("Draw again", () => {
    view.set("seed", (view.get().seed + 1) % 1e6);
    view.settle();
  });
  time.node.append(again);

  /** A grid whose cells have words, and whose pin is a setting. */
  const walked = (label, columns, last, words, box, pin) => grid({
    label, rows: 1, columns, last,
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
  const cells = walked("Tokens", 1, (row) => Math.min(at.columns, n - row * at.columns) - 1,
    (row, column) => about(it, index(row, column)) + nats(it, index(row, column)),
    () => [at.cells, at.rows, at.columns],
    (row, column) => ["position", index(row, column)]);
  const epochs = walked("Epochs: each row is a draw, each column a token", n, () => n - 1,
    (row, column) => `Epoch ${row}, ${quoted(tokens[column])} at ${column}: ` +
      ["not selected", visible(mask), "a random word", "kept"][it.draws[row].fates[column]],
    () => [at.strip, it.draws.length, n],
    (row) => ["epoch", row]);
  return {
    over: [cells.node, epochs.node],
    above: [time.node],
    table: () => ({
      caption: `Epoch ${it.epoch}`,
      head: ["position", "token", "is read as", "selected", "−log p, if hidden"],
      rows: tokens.map((token, i) => [i, visible(token), visible(it.standing(i)),
        it.fates[i] ? "yes" : "no loss here", nats(it, i).replace(/.*p /, "") || "–"]),
    }),
    draw(now, changed, width) {
      it = compute(data, now);
      at = place(it, width);
      cells.place(at.cells, at);
      epochs.place(at.strip, { rows: it.draws.length, columns: n });
      tip.hide();
      again.hidden = it.given;
      time.update();
      return { ...picture(it, at, width), alt: alternative(it), caption: effect(it) };
    },
  };
};

export default widget({
  name: "masking",
  label: "Masked language modeling: which tokens are guessed",
  title: "Which tokens does the model have to guess?",
  intro: "The line above a colored token is what stood there: the answer. Choose a token to see its guesses.",
  call: "Masking(tokens, **given, ",
  read,
  fields,
  build,
});
