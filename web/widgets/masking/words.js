// What the picture says, in sentences.

import { times } from "../shared/dom.js";
import { short } from "../shared/numbers.js";
import { quoted, shortened } from "../shared/tokens.js";

export const percent = (part, whole = 1) => `${Number(((100 * part) / (whole || 1)).toPrecision(3))}%`;
const lost = (p) => (p > 0 ? short(-Math.log(p)) : "∞");

/** What the model reads at a place. */
export const inputAt = ({ data: { tokens, mask, named }, actions, substitutes }, i) => [tokens[i], mask, named[substitutes[i]], tokens[i]][actions[i]];

/** And why. */
const action = (it, i) => [it.data.special[i] ? "special, never selected: no loss" : "not selected: no loss",
  `selected, replaced by ${shortened(it.data.mask)}`, `selected, replaced by the random word ${quoted(inputAt(it, i), 12)}`,
  "selected and unchanged"][it.actions[i]];

/** A token with its place, and what stands there. */
export const about = (it, i) => `${quoted(it.data.tokens[i])} at ${i}, ${action(it, i)}`;

/** Where the predictions of a position lie; −1: there are none. */
export function rowOf({ data, given, now, epoch }, i) {
  if (!data.known || (data.joint[0] && !given)) return -1;
  const at = (data.joint[0] && now.dynamic ? epoch : 0) * data.n + i;
  return data.known[at] ? at : -1;
}

/** The losses of a position; nothing where there is no prediction. */
export function nats(it, i) {
  const at = rowOf(it, i);
  const { readers, truth } = it.data;
  return at < 0 ? "" : `: ${it.actions[i] ? "" : "if masked, "}−log p ` +
    `${readers.map((name, k) => `${name} ${lost(truth[at * readers.length + k])}`).join(", ")} nats`;
}

/** What is known about the chosen position: likeliest words, losses, divergence. */
export function answer(it) {
  const { data, chosen: i, given } = it;
  if (!data.known) return null;
  const at = rowOf(it, i), joint = data.joint[0];
  const head = { head: `Position ${i}: ${quoted(data.tokens[i], 16)}`, read: action(it, i) };
  if (at < 0) return { ...head, why: joint && !given ? "Predictions are for the given draws." : "There is no prediction for it." };
  const { shown, readers, truth, count, divergence } = data;
  const places = times(count, (k) => at * count + k).filter((k) => shown[k] < 65535);
  const would = it.actions[i] ? "" : "would be ";
  return {
    ...head,
    why: joint ? "Given the draw, with all selected tokens masked." : "Given all other tokens: only this one is masked.",
    true: data.tokens[i],
    words: [...places.map((k) => data.named[shown[k]]), "all others"],
    ...Object.fromEntries(readers.map((name) => {
      const shares = places.map((k) => data[name][k]);
      return [name, [...shares, Math.max(1 - shares.reduce((a, b) => a + b), 0)]];
    })),
    tiles: [
      ...readers.map((name, k) => {
        const p = truth[at * readers.length + k];
        return [`${name === "exact" ? "Exact" : "Model’s"} loss ${would}${lost(p)} nats`, `true token: p = ${short(p)}`];
      }),
      ...(divergence ? [[`KL(exact ‖ model) ${divergence[at] < 0 ? "∞" : short(divergence[at])} nats`, "above the floor, on average"]] : [])],
  };
}

/** What has been asked for so far, and what there is no answer to. */
export function effect(it) {
  const { data, counts, eligible, draws, epoch, now, given } = it;
  const seen = data.tokens.filter((_, i) => draws.slice(0, epoch + 1).some(({ actions }) => actions[i])).length;
  // Of spans, whose tokens come together and up to a number, no such formula is known.
  const wanted = given || now.kind === "span" ? "" : ` (${percent(1 - (1 - now.rate) ** (epoch + 1))} expected)`;
  return [
    `Epoch ${epoch}: ${counts[0]} of ${eligible} tokens are selected. Only these have a loss.`,
    !given && now.masked + now.random > 1.001 && `${shortened(data.mask)} and random exceed 100%: random gets the remaining ${percent(1 - now.masked)}.`,
    now.dynamic ? `After ${epoch + 1} epoch${epoch ? "s" : ""}, ${percent(seen, eligible)} of the tokens have been predicted${wanted}.`
      : "Static masking selects the same tokens in every epoch.",
    data.why].filter(Boolean).join(" ");
}

/** The picture for those who do not see it. */
export function alternative(it) {
  const { data, counts, eligible, epoch, draws, now, given } = it;
  const told = answer(it);
  const how = { given: "as given", token: "by tokens", word: "by whole words", span: "by spans" }[now.kind];
  return `Draw ${how}${given ? "" : ` at ${percent(now.rate)}`}, epoch ${epoch} of 0 to ${draws.length - 1}: ` +
    `${counts[0]} of ${eligible} tokens selected, ${counts[1]} ${shortened(data.mask)}, ${counts[2]} random, ${counts[3]} kept. ` +
    `Chosen: ${about(it, it.chosen)}. ${told?.why ?? data.why ?? ""} ` + (told?.words ? [
    ...told.words.map((word, k) => `${quoted(word)} ${data.readers.map((name) => `${name} ${short(told[name][k])}`).join(", ")}`),
    ...told.tiles.map(([strong]) => strong)].join("; ") : "");
}
