// What Gates asks of the arrays: what is kept, one step's arithmetic, how often gates saturate. What
// no setting changes (means, variances, correlations) comes from Python with them.

import { times } from "../shared/dom.js";

/** The first gate is the one that the state passes through. */
export function prepare(arrays, model) {
  const kind = model.get("kind"), names = [...(kind === "LSTM" ? "fiogch" : "zrnh")];
  const half = names.length / 2, [, time, units] = arrays.forward.shape;
  const row = (all, i, length) => [...all.data.slice(i * length, (i + 1) * length)];
  return {
    arrays, kind, names, time, units, row,
    gates: names.slice(0, half), values: names.slice(half), state: names.at(kind === "LSTM" ? -2 : -1),
    tokens: model.get("tokens"), orders: model.get("orders"), series: model.get("series").map((name, i) =>
      ({ name, values: row(arrays.series, i, time) })),
  };
}

/** Questions to the run of one direction. */
export function reading({ arrays, kind, names, state, time, units, orders, row }, direction) {
  const by = direction === "forward" ? 1 : -1;
  const its = (name) => arrays[`${direction} ${name}`];
  const at = (name, t, unit) => arrays[direction].data[(names.indexOf(name) * time + t) * units + unit];

  /** The share of the state at `pin` that is left at each step; null before it, or without a pin. */
  function left(unit, pin) {
    const shares = Array(time).fill(null);
    for (let t = pin ?? -1, share = 1; t >= 0 && t < time; t += by) {
      if (t !== pin) share *= at(names[0], t, unit);
      shares[t] = share;
    }
    return shares;
  }
  const memory = (unit, pin) => left(unit, pin ?? (by > 0 ? 0 : time - 1)).reduce((a, b) => a + b);

  return {
    at, left, by,
    /** Where the scale of an array ends. */
    ends: (name) => (name === state ? its("most").data[0] : 1),
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
    saturation: (gate, unit) => [(x) => x < 0.1, (x) => x > 0.9].map((far) =>
      times(time, (t) => at(gate, t, unit)).filter(far).length / time),
    /**
     * What is kept of the state, what is written to it, and what comes of it. `sum` has the three as
     * decimals that add up as they are read: what is kept and the sum are rounded, and what is
     * written takes the rest, at most 0.001 from its own value.
     */
    step(t, unit) {
      const was = times(time, (k) => at(state, k, unit))[t - by] ?? its("before").data[unit];
      const f = at(names[0], t, unit), lstm = kind === "LSTM";
      const i = lstm ? at("i", t, unit) : 1 - f, g = at(lstm ? "g" : "n", t, unit);
      const now = at(state, t, unit), whole = f * was + i * g;
      const clipped = Math.abs(whole - now) > 0.003 * (1 + Math.abs(now));
      const [a, c] = [f * was, clipped ? whole : now].map((x) => Math.round(x * 1000));
      return { f, was, i, g, now, clipped, sum: [a, c - a, c].map((x) => x / 1000) };
    },
  };
}
