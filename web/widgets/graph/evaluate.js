// Forward and backward through a graph, one node after the other. A pass leaves in each node what it
// found there.

const above = (a) => (a > 0 ? 1 : 0);
export const finite = Number.isFinite;

/** What is no function of Math. */
const VALUES = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": (a, b) => a ** b,
  neg: (a) => -a,
  sigmoid: (a) => (a < 0 ? 1 - 1 / (1 + Math.exp(a)) : 1 / (1 + Math.exp(-a))),
  relu: (a) => Math.max(a, 0),
};
/** Local derivatives, from the arguments and the value. */
const SLOPES = {
  "+": () => [1, 1],
  "-": () => [1, -1],
  "*": (a, b) => [b, a],
  "/": (a, b) => [1 / b, -a / (b * b)],
  "**": (a, b, v) => [b && b * a ** (b - 1), a || b <= 0 ? v * Math.log(a) : 0],
  neg: () => [-1],
  tanh: (a, b, v) => [1 - v * v],
  sigmoid: (a, b, v) => [v * (1 - v)],
  relu: (a) => [above(a)],
  exp: (a, b, v) => [v],
  log: (a) => [1 / a],
  sin: (a) => [Math.cos(a)],
  cos: (a) => [-Math.sin(a)],
  sqrt: (a, b, v) => [0.5 / v],
  max: (a, b) => (a === b ? [0.5, 0.5] : [above(a - b), above(b - a)]),
};
/** What is odd about a node, if anything is: a key of the lexicon, or of its operation there. */
const oddity = ({ op, value, slopes, args, args: [a, b] }) => (!finite(value) ? op
  : !args.every((_, i) => finite(slopes[i])) ? "steep"
    : op === "relu" && !a.value ? "kink"
      : op === "max" && a.value === b.value ? "tie" : "");

/** Gives each node its `value`, its `slopes`, and what is `odd`; after a number that is none, NaN. */
export function forward(nodes) {
  for (const it of nodes) {
    const { op, args } = it;
    const [a, b = it.number] = args.map(({ value }) => value);
    if (!args.length) continue;
    const known = args.every(({ value }) => finite(value));
    it.value = known ? (VALUES[op] ?? Math[op])(a, b) : NaN;
    it.slopes = SLOPES[op](a, b, it.value);
    it.odd = known && oddity(it);
  }
  return nodes.at(-1).value;
}

/**
 * Gives each node the gradient `grad` that it has after these, in turn, have handed theirs on.
 *
 * @returns {{to: Node, slot: number, before: number, product: number}[]} what the last of them did.
 */
export function backward(nodes, turns, overwrite) {
  let pushes = [];
  for (const it of nodes) Object.assign(it, { grad: it.users.length ? 0 : 1, done: false });
  for (const by of turns) {
    by.done = true;
    pushes = by.args.flatMap((to, slot) => {
      if (!to.needs) return [];
      const before = to.grad, product = by.grad * by.slopes[slot];
      to.grad = overwrite ? product : before + product;
      return { to, slot, before, product };
    });
  }
  return pushes;
}

/** The slope of the output along a variable, from the output a little to its left and right. */
export function difference(nodes, variable) {
  const x = variable.value, h = 1e-5 * Math.max(1, Math.abs(x));
  const [left, right] = [x - h, x + h].map((at) => {
    variable.value = at;
    return forward(nodes);
  });
  variable.value = x;
  return (right - left) / (2 * h);
}

/** Whether a gradient is what its finite difference says, as far as rounding lets one tell. */
export const agree = (gradient, difference, size) => (finite(gradient - difference)
  ? Math.abs(gradient - difference) <= 1e-6 + 1e-4 * Math.abs(gradient) + 1e-9 * Math.abs(size) : undefined);

/** Gives each node the number of `ways` that lead to it from one of them. */
export function reach(nodes, from) {
  for (const it of nodes) it.ways = it === from ? 1 : it.args.reduce((sum, { ways }) => sum + ways, 0);
}

/** The paths to the output, as lists of [node, which argument of it the path comes by]. */
export const paths = ({ users }) => (users.length
  ? users.flatMap((edge) => paths(edge[0]).map((rest) => [edge, ...rest])) : [[]]);
