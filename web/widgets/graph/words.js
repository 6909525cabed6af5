// What happens, in sentences and equations.

import { short } from "../shared/numbers.js";
import { finite, paths } from "./evaluate.js";
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

const why = ({ odd }) => words.odd[odd] ?? words.odd.overflow;
const oddity = (it) => (it.odd ? say("odd", definition(it), why(it)) : "");

/** What a step says: a sentence, and equations for each gradient that it adds to. */
export function told(data) {
  const { step, start, last, now, pushes, overwrite, out } = data;
  if (!now) return [step === 0 ? say("given") : step === last ? summary(data) : say("seed", out), []];
  const { name, grad } = now;
  if (step < start) {
    return [say("value", step, start - 1, definition(now), fill(now, 0, (it) => term(it.value)), num(now.value)) + oddity(now), []];
  }
  return [
    say("pass", step - start, last - 1 - start, name, num(grad)) + oddity(now),
    pushes.flatMap(({ to, slot, product, before }) => {
      const local = now.slopes[slot], from = fill(now, slot + 2);
      return [
        say("push", out, to.name, overwrite ? "" : "+", name, num(grad), term(local), num(product)) +
          (before ? say(overwrite ? "gone" : "after", num(overwrite ? before : before + product)) : ""),
        say("rule", name, to.name, from) + (from === num(local) ? "" : ` = ${num(local)}`)];
    })];
}

/** What the whole picture says. */
function summary({ nodes, variables, overwrite, out, value }) {
  const often = nodes.filter(({ needs, users }) => needs && users[1]).map(({ name }) => name).join(", ");
  const { name, gradient } = variables.reduce((a, b) => (Math.abs(b.gradient) > Math.abs(a.gradient) ? b : a));
  return say("result", out, num(value)) +
    (!overwrite && finite(gradient) && gradient ? say("most", name, out, num(gradient / 100)) : "") +
    (often ? say(overwrite ? "lost" : "twice", often) : overwrite ? say("same") : "") +
    nodes.map(oddity).join("");
}

/** A node for its tip and for who walks there by keyboard. */
export function described(it, out) {
  const { name, value, needs, known, shown, grad, open, users } = it;
  return [
    definition(it) + (known && name !== num(value) ? ` = ${num(value)}` : ""),
    it.odd && why(it).replace(/(?<=[,;]) /g, "\n"),
    !needs && say("constant", name),
    shown && say("slope", out, name, num(grad)) + (open ? " …" : ""),
    ...users.map(([by, slot]) => shown && by.done && needs &&
      say("via", num(by.grad), term(by.slopes[slot]), num(by.grad * by.slopes[slot]), by.name)),
  ].filter(Boolean).join("\n");
}

export const spoken = (it, out) => described(it, out).replace(/\n */g, ", ");

/** The chain rule as a sum over paths, for the pinned node. */
export function byPaths({ nodes, pinned, out }) {
  if (!pinned) return [];
  const { name, needs } = pinned, { ways } = nodes.at(-1);
  if (!needs) return [say("constant", name)];
  if (ways > MANY) return [say("many", name, out, ways, nodes.flatMap(({ args }) => args).length)];
  let all = 0;
  const each = paths(pinned).map((path) => {
    const locals = path.map(([{ slopes }, slot]) => slopes[slot]);
    const product = locals.reduce((a, b) => a * b, 1);
    all += product;
    return `  ${[name, ...path.map(([by]) => by.name)].join(" → ")}:  ` + locals.map((x, k) => (k ? term : num)(x)).join(" · ") +
      (path.length === 1 ? "" : ` = ${num(product)}`);
  });
  return [say("few", name, out, ways), ...each, say("sum", num(all))];
}

/** A variable's gradient beside its finite difference. */
export const verdict = ({ gradient, difference, agrees }) =>
  say("check", num(gradient), num(difference)) + (agrees === undefined ? "" : say(agrees ? "right" : "differs"));

/** The picture for those who do not see it. */
export const alternative = (data, sentence) => [
  say("alt", data.expression, data.step, data.last, sentence,
    data.nodes.map((it) => spoken(it, data.out)).join("; "),
    data.variables.map((it) => `${it.name}: ${verdict(it)}`).join("; ")),
  ...byPaths(data)].join(" ");
