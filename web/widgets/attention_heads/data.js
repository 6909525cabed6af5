// What Python sent, head by head.

import { bytes } from "../shared/arrays.js";
import { decode, part as slice, scatter } from "./maths.js";

export const read = (arrays, model) => {
  // Queries and keys, as labels and in sentences; the latter are left out if they are the same tokens.
  const [tokens, quotes, keys = tokens, others = quotes] = model.get("names");
  const segments = model.get("segments");
  const partial = !arrays.weights0; // there are thumbnails, and each query's largest weights
  const channels = model.get("channels").map((name, i) => {
    const { shape: size } = arrays[`entropy${i}`], [layers, heads] = size;
    /** One head's part of an array. */
    const part = (it, layer, head) => {
      const { data } = arrays[it + i];
      return slice(data, layer * heads + head, data.length / layers / heads);
    };
    const here = (layer) => model.get("full_of").map(String).indexOf(`${i},${layer}`);
    const lacks = (layer) => partial && here(layer) < 0;
    return {
      name, size, part,
      /** Whether of a layer only the largest weights are there. */
      partial: lacks,
      /** A head's weights, query by query. */
      weights(layer, head) {
        if (!partial) return decode(part("weights", layer, head));
        if (lacks(layer)) return scatter(part("at", layer, head), part("top", layer, head), tokens.length, keys.length);
        return decode(slice(bytes(model.get("full")[here(layer)]), head, tokens.length * keys.length));
      },
      /** What its thumbnail shows. */
      small: partial && ((layer, head) => decode(part("thumbs", layer, head))),
      says: (layer, head) => model.get("says")[i][layer * heads + head],
      /** Whom it is compared with in the other channel. */
      partner: (layer, head) => (arrays[`partner${i}`] ? part("partner", layer, head) : [layer, head]),
    };
  });
  const places = (them, of) => [...them.keys()].filter((i) => of === "all" || "AB"[segments[i]] === of);
  return {
    channels,
    /** Whether queries and keys are the same tokens. */
    same: tokens === keys,
    labels: [tokens, keys],
    quotes: [quotes, others],
    choices: model.get("choices"),
    notes: model.get("notes"),
    small: partial && arrays.thumbs0.shape.slice(2),
    parts: arrays.q && arrays,
    /** The queries and keys of a choice of segments, such as "all" or "A-B". */
    among(it) {
      const [from, to] = it.split("-");
      return [places(tokens, from), places(keys, to ?? from)];
    },
  };
};
