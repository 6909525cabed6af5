// Merges: how BPE, WordPiece and a unigram model learn their pieces, and what that does to a text.

import { title } from "./shared/marks.js";
import { player } from "./shared/player.js";
import { quoted, shortened, visible } from "./shared/tokens.js";
import { widget } from "./shared/widget.js";
import { flow, walk } from "./merges/chips.js";
import { joined } from "./merges/models.js";
import { bars, curve, minus } from "./merges/picture.js";
import { common, cutText, number, pieces, pointing, read } from "./merges/tools.js";
import { candidates, early, replay } from "./merges/training.js";

const last = ({ facts: { training: { steps, rounds } } }) => steps?.length ?? rounds.length - 1;

/** What a round of a unigram's training did. */
function pruning({ rounds }, at) {
  const { seldom, pruned, kept, shown, spared, kind } = rounds[at];
  return {
    values: rounds.map((it) => it.kept.length),
    what: "Pieces, round by round",
    head: `Pruned, and ${kind === "finish" ? "their log probabilities" : "the nats a word loses"}`,
    said: `Round ${at} of ${rounds.length - 1}${at ? "" : ", the seeds"}: EM drops ${seldom} pieces, pruning ${pruned}; ${kept.length} stay.`,
    rows: [...spared ? [[...spared, true]] : [], ...shown].map(([piece, score, strong]) =>
      ({ name: shortened(piece, 10) + (strong ? " stays" : ""), whole: visible(piece), score, strong })),
  };
}

/** The corpus before a merge: the pairs that could be merged, and words with the one that is. */
function merging({ training, prefix }, { states, values }, at, old, color) {
  const { steps, counts, score } = training, words = states[at], next = steps[at];
  const is = ([left, right]) => left === next?.[0] && right === next[1];
  return {
    values,
    what: "Tokens a word, merge by merge",
    head: `Pairs by ${score}`,
    said: `After ${at} of ${steps.length} merges: ${old.tokens.length} tokens, and a word takes ${minus(values[at])}.` +
      (next ? ` Next, ${quoted(next[0])} and ${quoted(next[1])} become ${quoted(joined(next, prefix))}${next[2] ? `, one of ${next[2] + 1} equals` : ""}.` : ""),
    rows: candidates(words, training).map(({ pair, count, score }) => ({
      name: pair.map((it) => shortened(it, 7)).join(" + "), whole: pair.map(visible).join(" + "), count, score, strong: is(pair),
    })).sort((a, b) => b.strong - a.strong),
    lanes: words.map((word, i) => ({ word, count: counts[i], pair: word.findIndex((_, j) => is(word.slice(j))) }))
      .filter(({ pair }) => pair >= 0).sort((a, b) => b.count - a.count).slice(0, 6)
      .map(({ word, count, pair }) => ({
        name: minus(count), color, chunks: [word.map((piece, i) => ({ piece, strong: i === pair || i === pair + 1 }))],
      })),
  };
}

const build = ({ data: tools, view, tip, say, signal }) => {
  const tool = () => tools.find((it) => it.kind === view.get().algorithm);
  const step = () => Math.min(view.get().step, last(tool()));
  const replays = {};
  let table, values;

  const when = ({ i }) => (tool().kind === "unigram" ? `Round ${i}, ${values[i]} pieces` : `${i} merges, ${minus(values[i])} tokens a word`);
  function scrub(it) {
    view.set("step", it.i);
    say(when(it));
  }
  const scale = walk({
    name: "Steps of the training",
    describe: when,
    onPoint: pointing(tip, when),
    onMove: scrub,
    onPin(it) { scrub(it); view.settle(); },
  });
  const play = player({
    view: { ...view, get: () => ({ step: step() }) }, name: "step", last: () => last(tool()), signal, every: 500,
  });
  return {
    above: [play.node],
    over: [scale.node],
    table: () => table,
    draw(now, changed, width) {
      tip.hide();
      const { facts, name, color, kind, cutter } = tool(), at = step();
      const old = early(facts, at);
      const it = kind === "unigram" ? pruning(facts.training, at)
        : merging(facts, replays[kind] ??= replay(facts), at, old, color);
      values = it.values;
      const top = it.rows.slice(0, 7), most = Math.max(...top.map(({ score }) => Math.abs(score)), 1e-12);
      const lane = { ...cutText({ ...tool(), facts: old, cut: cutter(old) }, now.text), name: "" };
      const cut = flow([lane], 0, 34, width);
      let y = cut.height;
      const room = (width - 52) / values.length;
      const boxes = values.map((_, i) => ({ i, x: 44 + i * room, y: y + 44, width: room, height: 80 }));
      scale.place([boxes], y + 130);
      scale.go(0, at);
      const marks = [
        title(0, 18, `Your text: ${lane.all.length} tokens`), cut.marks,
        title(0, y + 18, it.what), curve(boxes, values, at, color),
        title(0, y + 176, it.head), bars(top.map((row) => ({
          ...row, share: Math.abs(row.score) / most, value: minus(row.score),
        })), y + 190, width, color)];
      y += 200 + 26 * top.length;
      if (it.lanes?.[0]) {
        const words = flow(it.lanes, 64, y + 32, width);
        marks.push(title(0, y + 18, "Words that change next"), words.marks);
        y = words.height;
      }
      table = { caption: it.said, head: ["Piece or pair", "Count", "Score"], rows: it.rows.slice(0, 50).map((row) => [row.whole, row.count ?? "", minus(row.score)]) };
      play.update();
      return {
        height: y, still: marks, caption: it.said,
        alt: `How ${name} learned\n${it.said}\nYour text: ${pieces(lane.all)}`,
      };
    },
  };
};

export default widget({
  name: "merges",
  label: "How tokenizers learn",
  title: "Who decided what a token is?",
  intro: "Step through the training; watch your text.",
  call: "Merges(bpe=bpe, wordpiece=wordpiece, unigram=unigram, ",
  read,
  fields: (tools) => {
    const most = Math.max(...tools.map(last));
    return { ...common(tools), step: number(most, most) };
  },
  build,
});
