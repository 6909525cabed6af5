// What Python sent: a text with its answers. And a text of the reader's own, which has none until a
// kernel sends them.

import { unpack } from "../shared/arrays.js";
import { times } from "../shared/dom.js";
import { onChange } from "../shared/settings.js";

export const MOST_TOKENS = 512;
const PARTS = /[^\s\x1c-\x1f\x85\ufeff.,:;!?()"“”…]+|[.,:;!?()"“”…]/g;

/** As in lmcourse/widgets/tokens.py, whose list a test compares. */
const SPECIAL = /^(\[(PAD|CLS|SEP|[BE]OS)]|<(pad|\/?s|[be]os|\|endoftext\|)>)$/;

/** Words and punctuation, as lmcourse/widgets/tokens.py parts them. */
export const split = (text) => text.match(PARTS) ?? [];

/** Typed arrays by name (a bundle shortens names that are not quoted), draws as lists. */
function decode(arrays, model) {
  const tokens = model.get("tokens");
  const n = tokens.length;
  const all = Object.fromEntries(Object.entries(arrays).map(([name, { data }]) => [name, data]));
  const part = (name, e) => [...all[name].subarray(e * n, (e + 1) * n)];
  return {
    ...all, n, tokens, named: model.get("words"), pool: model.get("pool"), mask: model.get("mask_token"),
    why: model.get("trouble"), special: all["special"], words: [...all.word], count: arrays.shown?.shape[2],
    draws: times(arrays["actions"]?.shape[0], (e) => ({ actions: part("actions", e), substitutes: part("substitutes", e) })),
    readers: ["exact", "model"].filter((name) => all[name]),
  };
}

/** A typed text, with none of the given one's answers. */
function typed({ named, pool, mask, draws }, text) {
  const tokens = split(text), n = tokens.length;
  return {
    named, pool, mask, draws, n, tokens, readers: [], words: times(n, (i) => i), special: tokens.map((it) => +SPECIAL.test(it)),
    why: "Split into words here; its answers come from a notebook’s kernel.",
  };
}

export function read(arrays, model) {
  const first = decode(arrays, model), own = model.get("answered");
  let from = model.get("arrays"), held = first;
  return {
    ...first, own, kernel: model.widget_manager,
    of(text = own) {
      if (from !== model.get("arrays")) held = decode(unpack(from = model.get("arrays"), model.get("index")), model);
      return text === model.get("answered") ? held : text === own ? first : typed(held, text);
    },
    /** Calls back when a kernel has answered. */
    onAnswer: (signal, callback) => onChange(model, "answered", signal, callback),
  };
}
