// Reads {tokenizers, texts} and writes, for each tokenizer and text, its [piece, id] pairs.
// A tokenizer may have "step", and is then as it was after so many steps of its training.

import { readFileSync } from "node:fs";
import { bpe, longest, unigram } from "../../web/widgets/merges/models.js";
import { reader } from "../../web/widgets/merges/text.js";
import { early } from "../../web/widgets/merges/training.js";

const MODELS = { bpe, wordpiece: longest, unigram };
const { tokenizers, texts } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(tokenizers.map((given) => {
  const facts = given.step === undefined ? given : early(given, given.step);
  const words = reader(facts), cut = MODELS[facts.kind](facts);
  return texts.map((text) => words(text).flatMap(({ chars }) =>
    cut(chars).tokens.map(({ piece, id }) => [piece, id ?? null])));
})));
