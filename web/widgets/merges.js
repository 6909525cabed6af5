// Merges: how BPE, WordPiece and a unigram model learn their pieces, and what that does to a text.

import { whole } from "./shared/controls.js";
import { h, s } from "./shared/dom.js";
import { title } from "./shared/marks.js";
import { player } from "./shared/player.js";
import { quoted, shortened, visible } from "./shared/tokens.js";
import { walk } from "./shared/walk.js";
import { widget } from "./shared/widget.js";
import { flow } from "./merges/chips.js";
import { joined } from "./merges/models.js";
import { bars, curve, minus } from "./merges/picture.js";
import { common, counted, cutText, pieces, pointing, read } from "./merges/tools.js";
import { candidates, early, replay } from "./merges/training.js";

const last = ({ facts: { training: { steps, rounds } } }) => steps?.length ?? rounds.length - 1;

const ROWS = 7;

/** What a round of a unigram's training did. */
function pruning({ rounds }, at) {
  const { seldom, pruned, added, kept, shown, spared, unit } = rounds[at];
  const row = ([piece, score], strong) => ({ parts: [piece], score, strong });
  const all = shown.map((it) => row(it)), first = spared ? [row(spared, true)] : [];
  const some = all.filter((_, i) => (at ? i % Math.ceil(all.length / (ROWS - 1)) === 0 : i < ROWS)); // from first to last
  return {
    values: rounds.map((it) => it.kept.length),
    what: "Pieces, round by round",
    head: (at ? `Pruned, ${some.length} of ${pruned}` : "Seeds") + (spared ? ", and ▶ stays" : ""),
    unit,
    said: `Round ${at} of ${rounds.length - 1}` + (at ? `: EM drops ${minus(seldom)} pieces, pruning ${pruned}; ${added ? `${added} lost characters are added again; ` : ""}`
      : ", the seeds: ") + `${minus(kept.length)} ${at ? "stay" : "pieces"}.`,
    rows: [...first, ...all],
    top: [...first, ...some],
  };
}

/** The corpus before a merge: the pairs that could be merged, and words with the one that is. */
function merging({ training, prefix }, { states, values }, at, old, color) {
  const { steps, counts, unit } = training, words = states[at], next = steps[at];
  const is = ([left, right]) => left === next?.[0] && right === next[1];
  const rows = candidates(words, training).map(({ pair, count, score }) => ({ parts: pair, count, score, strong: is(pair) })).sort((a, b) => b.strong - a.strong);
  return {
    values,
    what: "Tokens a word, merge by merge",
    head: "Pairs",
    unit,
    said: `After ${at} of ${steps.length} merges: ${old.tokens.length} tokens, and a word takes ${minus(values[at])}.` +
      (next ? ` Next, ${quoted(next[0])} and ${quoted(next[1])} become ${quoted(joined(next, prefix))}${next[2] ? `, one of ${next[2] + 1} equals` : ""}.` : ""),
    rows,
    top: rows.slice(0, ROWS),
    lanes: words.map((word, i) => ({ word, count: counts[i], pair: word.findIndex((_, j) => is(word.slice(j))) }))
      .filter(({ pair }) => pair >= 0).sort((a, b) => b.count - a.count).slice(0, 6)
      .map(({ word, count, pair }) => ({
        name: minus(count), color, chunks: [word.map((piece, i) => ({ piece, strong: i === pair || i === pair + 1 }))],
      })),
  };
}

const LINES = "min-height:clamp(41px,110px - 8cqw,82px)"; // two of the caption, or four on a phone

const build = ({ data: tools, view, tip, say, signal, caption }) => {
  const tool = () => tools.find((it) => it.kind === view.get().algorithm);
  const replays = {};
  let table, values;

  const when = ({ i }) => (tool().kind === "unigram" ? `Round ${i}, ${values[i]} pieces` : `${i} merges, ${minus(values[i])} tokens a word`);
  function scrub(it) {
    view.set("step", it.i);
    say(when(it));
  }
  const scale = walk({
    label: "Steps of the training",
    describe: when,
    onPoint: pointing(tip, when),
    onMove: scrub,
    onPin(it) { scrub(it); view.settle(); },
  });
  const play = player({
    view, name: "step", last: () => last(tool()), signal,
    every: { valueOf: () => Math.min(500, 4e4 / last(tool())) }, // a long training plays in 40 s
  });
  return {
    above: [play.node, h("div", { style: LINES }, caption)],
    over: [scale.node],
    table: () => table,
    draw(now, changed, width) {
      tip.hide();
      const { facts, name, color, kind, cutter } = tool(), at = Math.min(now.step, last(tool()));
      const old = early(facts, at);
      const it = kind === "unigram" ? pruning(facts.training, at)
        : merging(facts, replays[kind] ??= replay(facts), at, old, color);
      values = it.values;
      const most = Math.max(...it.top.map(({ score }) => score), 1e-12);
      const laid = (old) => {
        const lane = cutText({ ...tool(), cut: cutter(old) }, now.text);
        return { ...lane, ...flow([lane], 0, 34, width) };
      };
      const text = laid(old);
      // Nothing below moves while the text gets shorter.
      let y = Math.max(text.height, laid(early(facts, it.lanes ? 0 : last(tool()))).height) - 10;
      const wide = it.lanes && width > 640, half = wide ? width / 2 - 16 : width;
      const marks = [
        title(0, 18, `Your text: ${text.all.length} tokens`), text.marks,
        title(0, y + 18, `${it.head}: ${it.unit}`), bars(it.top.map(({ parts, score, strong }) => ({
          name: parts.map((it) => shortened(it, 14 / parts.length)).join(" + "), share: score / most, value: minus(score), strong,
        })), y + 30, half, color)];
      if (!wide) y += 218;
      if (it.lanes) {
        const words = flow(it.lanes, 48, y + 30, half);
        marks.push(s("g", { transform: `translate(${wide ? width - half : 0} 0)` },
          title(0, y + 18, it.lanes[0] ? "Words that change next" : ""), words.marks));
        y = Math.max(words.height - 4, y + 238);
      }
      const room = (width - 52) / values.length;
      const boxes = values.map((_, i) => ({ i, x: 44 + i * room, y: y + 52, width: room, height: 60 }));
      scale.place([boxes], y + 130);
      scale.go(0, at);
      marks.push(title(0, y + 18, it.what), curve(boxes, values, at, color));
      table = { caption: it.said, head: ["Piece or pair", "Count", it.unit], rows: it.rows.slice(0, 50).map((row) => [row.parts.map(visible).join(" + "), row.count ?? "", minus(row.score)]) };
      play.update();
      return {
        height: y + 132, still: marks, caption: it.said,
        alt: `How ${name} learned\n${it.said}\nYour text: ${pieces(text.all)}`,
      };
    },
  };
};

export default widget({
  name: "merges",
  label: "How tokenizers learn",
  title: "Who decided what a token is?",
  intro: "Press Play, and watch the tokens of your text. Then type another.",
  call: "Merges(bpe=bpe, wordpiece=wordpiece, unigram=unigram, ",
  read,
  fields: (tools) => {
    const most = Math.max(...tools.map(last));
    return { ...common(tools), step: { ...whole(most + 1, most), make: counted(tools, last) } };
  },
  build,
});
