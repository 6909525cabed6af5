// From a typed expression to a graph. lmcourse/widgets/expression.py has the same grammar, and a
// test holds the two together, down to the words of each mistake.

import { say, words } from "./lexicon.js";

const LEVEL = { "+": 1, "-": 1, "*": 2, "/": 2 };

/** Whether a variable can be called so. */
export const isName = (text) => parse(text)[0]?.name === text;

/**
 * @returns {Node[] | {at: number, wrong: string}} the nodes in the order in which they are computed,
 *   the output last; or what is wrong, and at which character.
 * @typedef {{op: string, name: string, number?: number, value?: number, needs: boolean, args: Node[],
 *   users: [Node, number][]}} Node a variable's op is "variable", a number's "number"; an exponent
 *   that is a number is no node. `needs`: a variable is below, so that there is a gradient; `users`:
 *   which nodes take it, and as which of their arguments.
 */
export function parse(text) {
  try {
    return program(text);
  } catch (mistake) {
    if (mistake.wrong) return mistake;
    throw mistake;
  }
}

function program(text) {
  const { functions, letters } = words;
  const nodes = [], named = new Map(); // what a name stands for
  let place = 0, token, depth = 0, free = 0, last;

  const failAt = (at, ...what) => { throw { at, wrong: say(...what) }; };
  const fail = (...what) => failAt(token.at, ...what);
  const next = () => { token = tokens[++place]; };
  const is = (sign) => token.it === sign;
  const seen = () => (token.it ? `“${token.it}”` : words.end);
  function add(op, args, more) {
    if (nodes.length === words.nodes) fail("nodes", words.nodes);
    const it = { op, args, users: [], needs: args.some(({ needs }) => needs), ...more };
    nodes.push(it);
    return it;
  }
  /** Takes a sign; if it is not there, what is there is misplaced. */
  function take(sign) {
    if (is(sign)) return next();
    if (token.number || token.name || is("(")) fail("operator", tokens[place - 1].it, token.it);
    if (sign) fail("missing", sign, seen());
    fail(token.it);
  }
  function sum(level = 1) {
    const operand = () => (level > 1 ? unary() : sum(2));
    let left = operand();
    while (LEVEL[token.it] === level) {
      const op = token.it;
      next();
      left = add(op, [left, operand()]);
    }
    return left;
  }
  function unary() {
    let it;
    if (++depth > words.levels) fail("levels", words.levels);
    if (is("-")) {
      next();
      it = unary();
      if (tokens[place - 1].number && it.op === "number") it.value *= -1;
      else it = add("neg", [it]);
    } else {
      it = atom();
      if (is("**") || is("^")) {
        next();
        const exponent = unary();
        if (exponent.op === "number" && !exponent.name) {
          nodes.pop();
          it = add("**", [it], { number: exponent.value });
        } else it = add("**", [it, exponent]);
      }
    }
    depth--;
    return it;
  }
  function atom() {
    const { number, name, it, at } = token;
    if (!number && !name && it !== "(") fail("operand", seen());
    next();
    if (number) return add("number", [], { value: +it });
    if (!name) {
      const inside = sum();
      take(")");
      return inside;
    }
    if (functions.includes(name)) {
      if (!is("(")) fail("bracket", name);
      next();
      const args = [sum()];
      if (name === "max") {
        take(",");
        args.push(sum());
      } else if (is(",")) fail("one", name);
      take(")");
      return add(name, args);
    }
    if (is("(")) failAt(at, "function", name, functions.join(", "));
    if (!named.has(name)) {
      if (++free > words.variables) failAt(at, "variables", name, words.variables);
      named.set(name, add("variable", [], { name, needs: true }));
    }
    return named.get(name);
  }
  function statement() {
    const { name, at } = token, defines = name && tokens[place + 1].it === "=";
    if (defines) place++, next();
    const it = sum();
    if (defines) {
      if (named.has(name) || functions.includes(name)) failAt(at, "again", name);
      named.set(name, it);
      it.name ??= name;
      it.at ??= at;
    }
    return { defines, at };
  }

  const { length } = text;
  if (length > words.characters) failAt(words.characters, "characters", length, words.characters);
  const tokens = [...text.matchAll(RegExp(words.token, "gu"))].map(({ 0: it, 1: number, 2: name, 3: strange, index: at }) => {
    const meant = words.meant[strange];
    if (name?.length > letters) failAt(at, "long", name, letters);
    if (strange) failAt(at, meant ? "meant" : "strange", /[!-~]/.test(it) || meant ? `“${it}”` : `U+${it.codePointAt(0).toString(16)}`, meant);
    return { it, number, name, at };
  });
  tokens.push({ it: "", at: text.length });
  token = tokens[0];
  do {
    if (last) next();
    if (last && !last.defines) failAt(last.at, "nameless");
    last = statement();
    if (!is("") && !is(";")) take("");
  } while (is(";"));
  if (!free) failAt(0, "fixed");
  for (const it of nodes) it.args.forEach((to, slot) => to.users.push([it, slot]));
  for (const { users, name, at } of nodes.slice(0, -1)) if (!users.length) failAt(at, "unused", name);
  let count = 0; // of those that get names, none of which can be typed
  nodes.at(-1).name ??= nodes.some(({ name }) => name === "L") ? "L′" : "L";
  for (const it of nodes) it.name ??= it.op === "number" ? `${it.value}` : `v${`${++count}`.replace(/./g, (it) => "₀₁₂₃₄₅₆₇₈₉"[it])}`;
  return nodes;
}
