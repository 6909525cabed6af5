// Which points no other one dominates, and the scales of the chart.

import { times } from "../shared/dom.js";

/** What Python packed: of each point its costs (low, middle, high on each axis), its scores' mean,
 *  standard deviation and number, and its codes. */
export function prepare({ costs, means, families, groups, kinds }, model) {
  const names = model.get("names"), axes = model.get("axis_labels"), scores = model.get("score_labels"), lines = model.get("lines");
  if (kinds.data.length !== names.length) throw new RangeError("The arrays are cut short."); // it is the last of them
  const three = (data, at) => [...data.subarray(3 * at, 3 * at + 3)];
  return {
    axes, scores, lines, title: model.get("title"), families: model.get("family_names"), groups: model.get("group_names"),
    points: names.map((name, i) => {
      const [mean, spread, seeds] = three(means.data, i);
      return {
        i, name, mean, spread, seeds, family: families.data[i], group: groups.data[i], kind: kinds.data[i],
        costs: axes.map((_, k) => three(costs.data, i * axes.length + k)),
      };
    }),
  };
}

/** The places of the points that no other one dominates, the cheapest first (`front` in lmcourse/widgets/pareto.py). */
export function front(costs, scores) {
  const order = [...costs.keys()].sort((i, j) => costs[i] - costs[j] || scores[j] - scores[i] || i - j), kept = [];
  for (const i of order) {
    const best = kept.at(-1);
    if (best === undefined || scores[i] > scores[best] || (scores[i] === scores[best] && costs[i] === costs[best])) kept.push(i);
  }
  return kept;
}

/** Everything that the settings ask for: the points shown, from the cheapest to the dearest, those on the front,
 *  and what dominates the pinned one. */
export function measure(data, { axis, score, families, groups, pinned }) {
  const at = data.axes.findIndex(([key]) => key === axis), kind = data.scores.findIndex(([key]) => key === score);
  const shown = data.points
    .filter((it) => it.kind === kind && families.includes(data.families[it.family]) && groups.includes(data.groups[it.group]))
    .map((it) => ({ ...it, low: it.costs[at][0], cost: it.costs[at][1], high: it.costs[at][2] }))
    .sort((a, b) => a.cost - b.cost || b.mean - a.mean || a.i - b.i);
  const best = front(shown.map((it) => it.cost), shown.map((it) => it.mean)).map((place) => shown[place]);
  for (const it of best) it.best = true;
  const picked = shown.find((it) => it.i === pinned);
  return {
    shown, best, picked, cost: data.axes[at][1], score: data.scores[kind][1],
    lines: data.lines.filter(([key]) => key === score).map(([, label, mean]) => ({ label, mean })),
    better: picked ? best.filter((it) => dominates(it, picked)) : [],
  };
}

export const dominates = (a, b) => a.cost <= b.cost && a.mean >= b.mean && (a.cost < b.cost || a.mean > b.mean);

/** Where the chart's ends are, and what labels its axes. */
export function scales({ shown, lines }) {
  const costs = shown.flatMap(({ low, high }) => [low, high]);
  const means = [...shown, ...lines].flatMap(({ mean, spread = 0 }) => [mean - spread, mean + spread]);
  const [low, high] = costs.length ? [Math.min(...costs), Math.max(...costs)] : [1, 10];
  const left = Math.log10(low), right = Math.log10(high), room = Math.max((right - left) * 0.06, 0.04);
  const least = means.length ? Math.min(...means) : 0, most = means.length ? Math.max(...means) : 1;
  const span = Math.max(most - least, Math.abs(most) / 1e6) || 0.5; // of a single number, or of equal ones
  const step = nice(span / 5), bottom = Math.floor(least / step) * step, top = Math.ceil(most / step) * step;
  return { left: left - room, right: right + room, bottom, top: top > bottom ? top : bottom + step, step };
}

/** 1, 2 or 5 times a power of ten, not below a number. */
export function nice(number) {
  const power = 10 ** Math.floor(Math.log10(number)), share = number / power;
  return power * (share > 5 ? 10 : share > 2 ? 5 : share > 1 ? 2 : 1);
}

/** The labels of a log axis between two exponents: at 1, 2 and 5, as long as there are at most `most`. */
export function ticks(left, right, most) {
  const found = [];
  for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8]]) {
    const all = times(Math.ceil(right) - Math.floor(left) + 1, (i) => steps.map((it) => it * 10 ** (Math.floor(left) + i))).flat()
      .filter((it) => Math.log10(it) >= left && Math.log10(it) <= right);
    if (!found.length || all.length <= most) found.push(all);
  }
  const all = found.at(-1), skip = Math.ceil(all.length / most);
  return all.filter((_, i) => i % skip === 0);
}
