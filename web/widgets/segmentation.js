// Segmentation: a text as BPE, WordPiece and a unigram model cut it, and a word of it step by step.

import { checkbox, whole } from "./shared/controls.js";
import { times } from "./shared/dom.js";
import { fitted, title } from "./shared/marks.js";
import { quoted, visible } from "./shared/tokens.js";
import { walk } from "./shared/walk.js";
import { widget } from "./shared/widget.js";
import { flow } from "./merges/chips.js";
import { greedy } from "./merges/models.js";
import { about, common, cutText, pieces, pointing, read, worth } from "./merges/tools.js";
import { listed, told, walls } from "./merges/walls.js";

const against = ([first]) => first.kind === "bpe" &&
  { ...first, name: "longest first", dashed: true, cut: greedy(first.facts) };

const build = ({ data: tools, view, tip, say }) => {
  const contrast = against(tools);
  let table, heading;
  const chips = walk({
    label: "Tokens: a row for each tokenizer",
    describe: ({ token }) => about(token),
    onPoint: pointing(tip, ({ token }) => about(token)),
    onMove: ({ token }) => say(about(token)),
    onPin({ token, chunk }) {
      view.assign({ word: chunk, algorithm: token.tool.kind });
      say(about(token));
      requestAnimationFrame(() => { // the word's steps, where the screen ends above them
        if (heading.getBoundingClientRect().top > innerHeight - 99) heading.scrollIntoView({ block: "center" });
      });
    },
  });
  return {
    over: [chips.node],
    table: () => table,
    draw(now, changed, width) {
      tip.hide();
      const lanes = tools.map((it) => ({ ...cutText(it, now.text), strong: it.kind === now.algorithm }));
      const wrong = contrast && cutText(contrast, now.text);
      // Between letters: a mark of a word's edge, or a byte of a letter, may be a token of its own.
      const cuts = ({ chunks }, i) => String([...new Set(chunks[i].map(({ first }) => first))]);
      const apart = (some) => lanes[0].chunks.filter((_, i) => new Set(some.map((it) => cuts(it, i))).size > 1).length;
      const many = lanes[0].chunks.length;
      let caption = many ? `Tokens: ${lanes.map((it) => `${it.name} ${it.all.length}`).join(", ")}. ` : "There is no text. ";
      if (many && lanes[1]) caption += `They split ${apart(lanes)} of ${many} words differently. `;
      if (many && wrong) caption += `Longest first, BPE’s pieces would split ${apart([lanes[0], wrong])} of ${many} differently from BPE. `;
      const lane = lanes.find((it) => it.strong);
      if (wrong && now.longest_first) lanes.splice(1, 0, wrong);
      const sizes = times(many, (i) => lanes.reduce((sum, it) => sum + it.chunks[i].length, 0));
      const pinned = Math.min(now.word ?? sizes.indexOf(Math.max(...sizes)), many - 1);
      for (const { chunks } of lanes) chunks[pinned]?.forEach((it) => { it.strong = true; });
      const { rows, height, marks } = flow(lanes, 92, 8, width);
      chips.place(rows, height);
      const [{ chars }] = [...lane.chunks[pinned] ?? [], { chars: [] }].sort((a, b) => b.chars.length - a.chars.length);
      let wall = { height: 20 }, steps = [];
      if (!many) marks.push(title(0, 24, "There is no text."));
      if (chars.length) {
        const found = { chars, ...lane.cut(chars) };
        steps = listed[lane.kind](found, lane.facts);
        wall = walls[lane.kind](found, lane.facts, { top: height + 36, width, color: lane.color });
        marks.push(heading = title(0, height + 20, `How ${lane.name} splits ${quoted(fitted(chars.join(""), width - 190))}`), wall.marks);
        caption += told[lane.kind](found, lane.facts);
      }
      table = {
        caption: "The tokens, and the steps of one word", head: ["Tokenizer", "Token", "Id", "Learned as"],
        rows: [...lanes.flatMap((it) => it.all.map((token) => [it.name, visible(token.piece), token.id ?? "none", worth(token)])),
          ...steps.map(({ piece, came }, i) => [`${lane.name}, step ${i + 1}`, piece, "", came])],
      };
      return {
        height: height + 44 + wall.height, still: marks, caption,
        alt: [visible(now.text).replaceAll("␣", " "), caption, ...lanes.map((it) => `${it.name}: ${pieces(it.all)}`),
          `Steps: ${steps.map(({ piece, came, main }, i) => main && `${i + 1}. ${piece}, ${came}`).filter(Boolean).join("; ")}`].join("\n"),
      };
    },
  };
};

export default widget({
  name: "segmentation",
  label: "A text split into tokens by several tokenizers",
  title: "Where does each tokenizer split?",
  intro: "Type a text. Click a token to see how its word is split.",
  call: "Segmentation(bpe=bpe, wordpiece=wordpiece, unigram=unigram, ",
  read,
  fields: (tools) => ({
    ...common(tools),
    longest_first: { ...checkbox({ label: "BPE’s pieces, longest first", start: false }), ...!against(tools) && { make: null } },
    word: whole(200, null),
  }),
  build,
});
