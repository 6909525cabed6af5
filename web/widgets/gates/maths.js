// What Gates asks of the arrays: what is kept, and one step's arithmetic. What no setting
// changes (means, variances, correlations, how often gates saturate) comes from Python with them.

import { times } from "../shared/dom.js";

/** The first gate is the one that the state passes through. */
export function prepare(arrays, model) {
  const kind = model.get("kind"), names = [...(kind === "LSTM" ? "fiogch" : "zrnh")];
  const half = names.length / 2, [, time, units] = arrays.forward.shape;
  const row = (all, i, length) => [...all.data.slice(i * length, (i + 1) * length)];
  return {
    held: arrays, kind, names, time, units, row,
    gates: names.slice(0, half), others: names.slice(half), state: names.at(kind === "LSTM" ? -2 : -1),
    tokens: model.get("tokens"), orders: model.get("orders"), given: model.get("series").map((name, i) =>
      ({ name, numbers: row(arrays.series, i, time) })),
  };
}

/** Questions to the run of one direction. */
export function reading({ held, kind, names, state, time, units, tokens, orders, row }, direction) {
  const by = direction === "forward" ? 1 : -1;
  const its = (name) => held[`${direction} ${name}`];
  const at = (name, t, unit) => held[direction].data[(names.indexOf(name) * time + t) * units + unit];

  /** The share of the state at `pin` that is left at each step; null before it, or without a pin. */
  function kept(unit, pin) {
    const shares = Array(time).fill(null);
    for (let t = pin ?? -1, share = 1; t >= 0 && t < time; t += by) {
      if (t !== pin) share *= at(names[0], t, unit);
      shares[t] = share;
    }
    return shares;
  }
  const memory = (unit, pin) => kept(unit, pin ?? (by > 0 ? 0 : time - 1)).reduce((a, b) => a + b);

  return {
    at, kept, by,
    /** Where the scale of an array ends. */
    ends: (name) => (name === state ? its("ends").data[0] : 1),
    /** Its correlation with a series. */
    follows: (unit, i) => its("follows").data[i * units + unit],
    /** The units, the first of an order first. */
    order({ sort, pin }) {
      const i = orders.indexOf(sort);
      const values = i < 0 ? times(units, (unit) => (sort === "memory" ? memory(unit, pin) : -unit))
        : row(its("orders"), i, units);
      return [...values.keys()].sort((a, b) => values[b] - values[a] || a - b);
    },
    /** How often a gate is below 0.1, and above 0.9. */
    saturation: (gate, unit) => [0, 1].map((k) =>
      its("saturation").data[((k * names.length) / 2 + names.indexOf(gate)) * units + unit]),
    /**
     * What is kept of the state, what is written to it, and what comes of it. `sum` has the three as
     * decimals that add up as they are read: what is kept and the sum are rounded, and what is written
     * takes the rest, at most 0.0015 from its own value. A state that is further from the sum, because
     * it is clipped or has fewer digits (half precision), is no part of it.
     */
    update(t, unit) {
      const was = t - by in tokens ? at(state, t - by, unit) : its("before").data[unit];
      const f = at(names[0], t, unit), lstm = kind === "LSTM";
      const i = lstm ? at("i", t, unit) : 1 - f, g = at(lstm ? "g" : "n", t, unit);
      const now = at(state, t, unit), whole = f * was + i * g, clip = its("ends").data[1];
      const stored = Math.abs(whole - now) > 5e-4 + 1e-6 * Math.abs(now);
      const [a, c] = [f * was, stored ? whole : now].map((x) => Math.round(x * 1000));
      return { f, was, i, g, now, stored, clipped: stored && clip && Math.abs(whole) > clip,
        sum: [a, c - a, c].map((x) => x / 1000) };
    },
  };
}
