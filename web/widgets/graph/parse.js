// From a typed expression to a graph. lmcourse/widgets/expression.py has the same grammar, and a
// test holds the two together, down to the words of each mistake.

import { say, words } from "./lexicon.js";

const LEVEL = { "+": 1, "-": 1, "*": 2, "/": 2 };

/** Whether a variable can be called so. */
export const isName = (text) => parse(text)[0]?.name === text;

/**
 * @returns {Node[] | {at: number, wrong: string}} the nodes in the order in which they are computed,
 *   the output last; or what is wrong, and at which character.
 * @typedef {{op: string, name: string, number?: number, result?: number, needs: boolean, args: Node[],
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

const failAt = (at, ...what) => { throw { at, wrong: say(...what) }; };

function tokensOf(text) {
  const { length } = text, { characters, letters } = words;
  if (length > characters) failAt(characters, "characters", length, characters);
  const tokens = [...text.matchAll(RegExp(words.token, "gu"))].map(({ 0: it, 1: number, 2: name, 3: strange, index: at }) => {
    const meant = words.meant[strange];
    if (name?.length > letters) failAt(at, "long", name, letters);
    if (strange) failAt(at, meant ? "meant" : "strange", /[!-~]/.test(it) || meant ? `“${it}”` : `U+${it.codePointAt(0).toString(16)}`, meant);
    return { it, number, name, at };
  });
  return [...tokens, { it: "", at: length }];
}

// Recursive descent: each function reads a part of the tokens, from the place on, and adds the nodes that
// compute it. One text is read at a time.

let tokens, place, depth, free; // free: how many variables there are
let nodes, known; // known: what a name stands for

const here = () => tokens[place];
const is = (sign) => here().it === sign;
const goes = (sign) => is(sign) && ++place;
const fail = (...what) => failAt(here().at, ...what);
const seen = () => (is("") ? words["end"] : `“${here().it}”`);
const isConstant = (it) => it.op === "number";

function add(op, args, more) {
  if (nodes.length === words["nodes"]) fail("nodes", words["nodes"]);
  const it = { op, args, users: [], needs: args.some(({ needs }) => needs), ...more };
  nodes.push(it);
  return it;
}

/** Takes a sign; if it is not there, what is there is misplaced. */
function take(sign) {
  const { number, name, it } = here();
  if (goes(sign)) return;
  if (number || name || it === "(") fail("operator", tokens[place - 1].it, it);
  if (sign) fail("missing", sign, seen());
  fail(it);
}

function sum(level = 1) {
  const operand = () => (level > 1 ? unary() : sum(2));
  let left = operand();
  while (LEVEL[here().it] === level) {
    const op = tokens[place++].it;
    left = add(op, [left, operand()]);
  }
  return left;
}

function unary() {
  let it;
  if (++depth > words.levels) fail("levels", words.levels);
  if (goes("-")) {
    it = unary();
    if (tokens[place - 1].number && isConstant(it)) it.result *= -1;
    else it = add("neg", [it]);
  } else it = power();
  depth--;
  return it;
}

function power() {
  const it = atom();
  if (!goes("**") && !goes("^")) return it;
  const exponent = unary();
  if (!isConstant(exponent) || exponent.name) return add("**", [it, exponent]);
  nodes.pop(); // it is no node of its own
  return add("**", [it], { number: exponent.result });
}

function atom() {
  const { number, name, it, at } = here();
  if (!number && !name && it !== "(") fail("operand", seen());
  place++;
  if (number) return add("number", [], { result: +it });
  if (words.functions.includes(name)) return call(name);
  if (name) return variable(name, at);
  const inside = sum();
  take(")");
  return inside;
}

function call(name) {
  if (!goes("(")) fail("bracket", name);
  const args = [sum()];
  if (name === "max") {
    take(",");
    args.push(sum());
  } else if (is(",")) fail("one", name);
  take(")");
  return add(name, args);
}

function variable(name, at) {
  if (is("(")) failAt(at, "function", name, words.functions.join(", "));
  if (!known.has(name)) {
    if (++free > words["variables"]) failAt(at, "variables", name, words["variables"]);
    known.set(name, add("variable", [], { name, needs: true }));
  }
  return known.get(name);
}

/** A part between semicolons; whether there are more. */
function statement() {
  const { name, at } = here(), defines = name && tokens[place + 1].it === "=";
  if (defines) place += 2;
  const it = sum();
  if (defines) {
    if (known.has(name) || words.functions.includes(name)) failAt(at, "again", name);
    known.set(name, it);
    it.name ??= name;
    it.at ??= at;
  }
  const more = goes(";");
  if (!more) take("");
  else if (!defines) failAt(at, "nameless");
  return more;
}

function program(text) {
  tokens = tokensOf(text);
  place = depth = free = 0;
  nodes = [];
  known = new Map();
  while (statement());
  if (!free) failAt(0, "fixed");
  for (const it of nodes) it.args.forEach((to, slot) => to.users.push([it, slot]));
  for (const { users, name, at } of nodes.slice(0, -1)) if (!users.length) failAt(at, "unused", name);
  let count = 0; // of those that get names, none of which can be typed
  nodes.at(-1).name ??= nodes.some(({ name }) => name === "L") ? "L′" : "L";
  for (const it of nodes) it.name ??= isConstant(it) ? `${it.result}` : `v${`${++count}`.replace(/./g, (it) => "₀₁₂₃₄₅₆₇₈₉"[it])}`;
  return nodes;
}
