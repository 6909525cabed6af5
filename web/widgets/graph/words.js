// What happens, in sentences and equations.

import { short } from "../shared/numbers.js";
import { abs, agree, finite, max, paths } from "./evaluate.js";
import { say, words } from "./lexicon.js";

const MANY = 8; // more paths than these are counted only

/** A number as the picture shows it. */
export const num = (x) => (Number.isNaN(x) ? words.nothing
  : (finite(x) ? short(x) : `${x}`.replace("Infinity", "∞")).replace(/-/g, "−"));
/** The same as a factor or a term. */
const term = (x) => (x < 0 ? `(${num(x)})` : num(x));

/** One of an operation's patterns: 0 is how it is written, 2 and 3 are its local derivatives. */
const fill = ({ op, number, name, args }, which, show = (it) => it.name) => {
  const [A, B = num(number)] = args.map(show);
  return words.operations[op][which].replace(/[ABV]/g, (it) => ({ A, B, V: name })[it]);
};

/** "v₁ = w · x". */
export const definition = (it) => it.name + (it.args.length ? ` = ${fill(it, 0)}` : "");

const why = ({ trouble }) => words.odd[trouble] ?? words.odd.overflow;
const oddity = (it) => (it.trouble ? say("odd", definition(it), why(it)) : "");

/** What a step says: a sentence, and an equation for each gradient that it adds to. */
export function told(data) {
  const { step, start, last, now, pushes, overwrite, out } = data;
  if (!now) return step === 0 ? say("given") : step === last ? summary(data) : say("seed", out);
  const { name, grad } = now;
  if (step < start) {
    return say("value", step, start - 1, definition(now), fill(now, 0, (it) => term(it.result)), num(now.result)) + oddity(now);
  }
  return [
    say("pass", step - start, last - 1 - start, name, num(grad)) + oddity(now),
    ...pushes.map(({ to, slot, product, before }) => {
      const local = num(now.slopes[slot]), from = fill(now, slot + 2);
      return say("push", out, to.name, overwrite ? "" : "+", name, num(grad), term(now.slopes[slot]), num(product)) +
        (before ? say(overwrite ? "gone" : "after", num(overwrite ? before : before + product)) : "") +
        say("rule", name, to.name, from) + (from === local ? "" : ` = ${local}`);
    })].join("\n");
}

/** What the whole picture says. */
function summary({ nodes, variables, overwrite, out, result }) {
  const often = nodes.filter(({ needs, users }) => needs && users[1]).map(({ name }) => name).join(", ");
  const slopes = variables.map(({ gradient }) => abs(gradient)), most = max(...slopes);
  const top = variables.filter((_, i) => slopes[i] > most * (1 - 1e-9));
  return say("result", out, num(result)) +
    (overwrite || !top[0] || nodes.some(({ trouble }) => trouble) ? ""
      : say("most", top.map(({ name }) => name).join(", "), out, num(most))) +
    (often ? say(overwrite ? "lost" : "twice", often) : overwrite ? say("same") : "") +
    nodes.map(oddity).join("");
}

/** A node for its tip and for who walks there by keyboard. */
export function described(it, out) {
  const { name, result, needs, known, shown, grad, waits, users } = it;
  return [
    definition(it) + (known && name !== num(result) ? ` = ${num(result)}` : ""),
    it.trouble && why(it),
    !needs && say("constant", name),
    shown && say("slope", out, name, num(grad)) + (waits ? " …" : ""),
    ...users.map(([by, slot]) => shown && by.done && needs &&
      say("via", num(by.grad), term(by.slopes[slot]), num(by.grad * by.slopes[slot]), by.name)),
  ].filter(Boolean).join("\n");
}

export const spoken = (it, out) => described(it, out).replace(/\n */g, ", ");

/** The chain rule as a sum over paths, for the pinned node. */
export function byPaths({ nodes, pin, lost, out }) {
  if (!pin) return lost ? [say("nobox", lost)] : [];
  const { name, needs } = pin, { ways } = nodes.at(-1);
  if (!needs) return [say("constant", name)];
  if (ways > MANY) return [say("many", name, out, ways, nodes.flatMap(({ args }) => args).length)];
  let all = 0;
  const each = paths(pin).map((path) => {
    const locals = path.map(([{ slopes }, slot]) => slopes[slot]);
    const product = locals.reduce((a, b) => a * b, 1);
    all += product;
    return `  ${[name, ...path.map(([by]) => by.name)].join(" → ")}:  ` + locals.map((x, k) => (k ? term : num)(x)).join(" · ") +
      (path.length === 1 ? "" : ` = ${num(product)}`);
  });
  return [say("few", name, out, ways), ...each, say("sum", num(all))];
}

/** A variable's gradient beside its finite difference. */
export function verdict({ gradient, difference }) {
  const found = agree(gradient, difference);
  return say("check", num(gradient), num(difference.slope)) + (found && say(found));
}

/** The picture for those who do not see it. */
export const alternative = (data, sentence) => [
  say("alt", data.expression, data.step, data.last, sentence,
    data.nodes.map((it) => spoken(it, data.out)).join("; "),
    data.variables.map((it) => `${it.name}: ${verdict(it)}`).join("; ")),
  ...byPaths(data)].join(" ");
