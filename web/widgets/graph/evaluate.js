// Forward and backward through a graph, one node after the other. A pass leaves in each node what it
// found there.

export const finite = Number.isFinite;
export const { abs, max, min } = Math;

/** What is no function of Math. */
const VALUES = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": (a, b) => a ** b,
  neg: (a) => -a,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  relu: (a) => max(a, 0),
};
/** Local derivatives, from the arguments and the value. */
const SLOPES = {
  "+": () => [1, 1],
  "-": () => [1, -1],
  "*": (a, b) => [b, a],
  "/": (a, b) => [1 / b, -a / (b * b)],
  "**": (a, b, v) => [b && b * a ** (b - 1), a || b < 0 ? v * Math.log(a) : 0],
  neg: () => -1,
  tanh: (a, b, v) => 1 - v * v,
  sigmoid: (a, b, v) => v * (1 - v),
  relu: (a) => +(a > 0),
  exp: (a, b, v) => v,
  log: (a) => 1 / a,
  sin: Math.cos,
  cos: (a) => -Math.sin(a),
  sqrt: (a, b, v) => 0.5 / v,
  max: (a, b) => (a === b ? [0.5, 0.5] : [+(a > b), +(b > a)]),
};
/** What is odd about a node, if anything is: a key of the lexicon, or of its operation there. */
const oddity = ({ op, result, slopes, needs, args, args: [a, b] }) => (!finite(result) ? op
  : !needs ? "" : args.some((it, i) => it.needs && !finite(slopes[i])) ? "steep"
    : op === "relu" && !a.result ? "kink"
      : op === "max" && a.result === b.result ? "tie" : "");

/** Gives each node its `result`, its `slopes`, and what `trouble` there is; after a number that is none, NaN. */
export function forward(nodes) {
  for (const it of nodes) {
    const { op, args } = it;
    if (!args[0]) continue;
    const [a, b = it.number ?? 0] = args.map(({ result }) => result), known = finite(a) && finite(b);
    it.result = known ? (VALUES[op] ?? Math[op])(a, b) : NaN;
    it.slopes = [SLOPES[op](a, b, it.result)].flat();
    it.trouble = known && oddity(it);
  }
  return nodes.at(-1).result;
}

/**
 * Gives each node the gradient `grad` that it has after these, in turn, have handed theirs on.
 *
 * @returns {{to: Node, slot: number, before: number, product: number}[]} what the last of them did.
 */
export function backward(nodes, turns, overwrite) {
  let pushes = [];
  for (const it of nodes) {
    it.grad = +!it.users[0];
    it.done = false;
  }
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

/** How much rounding moves the output at most: the graph has its gradients, none overwritten. */
export const rounding = (nodes) => nodes.reduce((sum, { result, grad }) =>
  sum + (finite(result * grad) ? abs(result * grad) * 2 ** -52 : 0), 0);

/**
 * The slope of the output along a variable, from outputs to its left and right: at ever smaller distances,
 * each time extrapolated from the last two (Richardson), and of these the one that is surest.
 *
 * @returns {{slope: number, error: number}} NaN where there is none.
 */
export function difference(nodes, variable, noise) {
  const x = variable.result;
  let best = { slope: NaN, error: Infinity }, coarse, last;
  for (let i = 0, h = max(1, abs(x)) / 10; i < 26; i++, h /= 4) {
    const [left, right] = [x - h, x + h].map((at) => {
      variable.result = at;
      return forward(nodes);
    });
    const fine = (right - left) / (x + h - (x - h)), slope = fine + (fine - coarse) / 15;
    const error = abs(slope - last) + noise / h;
    if (error < best.error) best = { slope, error };
    coarse = fine;
    last = slope;
  }
  variable.result = x;
  return best;
}

/** What the finite difference says of a gradient, as a key of the lexicon: "unsure" where its error is too large. */
export function agree(gradient, { slope, error }) {
  const size = max(abs(gradient), abs(slope)), off = abs(gradient - slope);
  return !finite(off) ? "" : off && error > size / 1000 ? "unsure" : off <= size / 1e4 + 3 * error ? "right" : "differs";
}

/** Gives each node the number of `ways` that lead to it from one of them. */
export function reach(nodes, from) {
  for (const it of nodes) it.ways = it === from ? 1 : it.args.reduce((sum, { ways }) => sum + ways, 0);
}

/** The paths to the output, as lists of [node, which argument of it the path comes by]. */
export const paths = ({ users }) => (users.length
  ? users.flatMap((edge) => paths(edge[0]).map((rest) => [edge, ...rest])) : [[]]);
