// Graph's grammar against Python's (tests/widgets/golden_graph.py), its numbers against torch, and
// what it says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { agree, backward, difference, forward, paths, reach, rounding } from "../widgets/graph/evaluate.js";
import { isSize, isValues } from "../widgets/graph/inputs.js";
import { layout } from "../widgets/graph/layout.js";
import { words } from "../widgets/graph/lexicon.js";
import { isName, parse } from "../widgets/graph/parse.js";
import { byPaths, described, num, told } from "../widgets/graph/words.js";

const golden = JSON.parse(readFileSync(new URL("graph.golden.json", import.meta.url)));
Object.assign(words, golden.lexicon);

/** The nodes of an expression, forward and backward done. */
function run(text, given, overwrite = false) {
  const nodes = parse(text);
  assert.ok(Array.isArray(nodes), `${text}: ${nodes.wrong}`);
  for (const it of nodes) if (it.op === "variable") it.result = given[it.name];
  forward(nodes);
  backward(nodes, nodes.filter(({ args, needs }) => args.length && needs).reverse(), overwrite);
  return nodes;
}
const gradients = (nodes) => Object.fromEntries(nodes.filter(({ op }) => op === "variable").map(({ name, grad }) => [name, grad]));
const find = (nodes, wanted) => nodes.find(({ name }) => name === wanted);

function near(found, wanted, what) {
  const right = Number(wanted);
  const fits = found === right || Math.abs(found - right) <= 1e-9 * Math.max(1, Math.abs(right));
  assert.ok(fits, `${what}: ${found} instead of ${wanted}`);
}

test(`${golden.cases.length} expressions as torch has them`, () => {
  assert.ok(golden.cases.length >= 300);
  for (const { text, given, value, gradients: wanted } of golden.cases) {
    const nodes = run(text, given);
    near(nodes.at(-1).result, value, text);
    const found = gradients(nodes);
    assert.deepEqual(Object.keys(found), Object.keys(wanted));
    for (const name of Object.keys(wanted)) near(found[name], wanted[name], `∂/∂${name} of ${text} at ${JSON.stringify(given)}`);
  }
});

/** What finite differences say of each variable's gradient. */
function verdicts(text, given, overwrite = false) {
  const nodes = run(text, given), variables = nodes.filter(({ op }) => op === "variable"), noise = rounding(nodes);
  const found = variables.map((it) => difference(nodes, it, noise));
  const wanted = gradients(run(text, given, overwrite));
  return variables.map(({ name }, i) => agree(wanted[name], found[i]));
}

test("gradients are what finite differences say, away from kinks", () => {
  let compared = 0;
  for (const { text, given } of golden.cases) {
    if (run(text, given).some(({ trouble }) => trouble)) continue;
    for (const said of verdicts(text, given)) {
      if (text === "a**b" && !given.b) continue; // it has values on one side only
      assert.ok(said === "right" || said === "unsure", `${text} at ${JSON.stringify(given)}: ${said}`);
      compared += said === "right";
    }
  }
  assert.ok(compared > 600, compared);
});

test("correct gradients are right at any size, and what cannot be told is not", () => {
  for (const [text, a] of [["sin(a)", 10000], ["log(a)", 1e-4], ["1/a", 1e-4], ["sqrt(a)", 1e-6], ["exp(a)", 700], ["a**3", 1e6],
    ["relu(a)", 1e-9], ["a*a", 1e-7], ["log(sigmoid(a))", -40], ["tanh(a)", 20], ["cos(a)", 0], ["log(a)", 1e6]]) {
    assert.deepEqual(verdicts(text, { a }), ["right"], `${text} at ${a}`);
  }
  assert.deepEqual(verdicts("a*a", { a: 1e-7 }, true), ["differs"]);
  assert.deepEqual(verdicts("a*a", { a: 3 }, true), ["differs"]);
  assert.deepEqual(verdicts("a*b + 12345678901234*a", { a: 0.5, b: -1 }), ["right", "unsure"]);
  assert.deepEqual(verdicts("relu(a - 0.5) + max(a, b)", { a: 0.5, b: 0.5 }), ["differs", "right"]);
  assert.deepEqual(verdicts("log(a)", { a: 0 }), [""]);
  assert.equal(agree(1, { slope: 1.01, error: 0 }), "differs");
  assert.equal(agree(0, { slope: 0, error: 1e-9 }), "right");
});

test("what changes the output fastest: all that tie, and only where every slope is one", () => {
  const told_ = (text, given) => {
    const nodes = run(text, given), variables = nodes.filter(({ op }) => op === "variable");
    for (const it of variables) it.gradient = it.grad;
    return told({ nodes, variables, step: 9, start: 1, last: 9, out: "L", result: nodes.at(-1).result, pushes: [] });
  };
  assert.match(told_("(x + y)*x*y**2", { x: 1, y: 2 }), /L changes fastest with x, y: there \|∂\| is 16\./);
  assert.match(told_("3*x - y", { x: 1, y: 2 }), /L changes fastest with x: there \|∂\| is 3\./);
  assert.match(told_("1/x", { x: 0.001 }), /L changes fastest with x: there \|∂\| is 1.0·10⁶\./);
  for (const [text, given] of [["a + log(b)", { a: 1, b: -1 }], ["a + sqrt(b)", { a: 1, b: 0 }], ["a*b", { a: 0, b: 0 }],
    ["relu(a - 0.5) + max(a, b)", { a: 0.5, b: 0.5 }], ["max(a, b)", { a: 2, b: 2 }]]) {
    assert.doesNotMatch(told_(text, given), /fastest/, text);
  }
});

test("the same texts are expressions as in Python, with the same nodes or the same words", () => {
  let refused = 0;
  for (const { text, ...wanted } of golden.verdicts) {
    const found = parse(text);
    if (wanted.wrong) {
      refused++;
      assert.deepEqual(found, wanted, JSON.stringify(text));
      continue;
    }
    const made = Array.isArray(found) && found.map(({ op, args, name }) => [op, args.map((it) => found.indexOf(it)), name]);
    assert.deepEqual(made, wanted.nodes, JSON.stringify(text));
  }
  assert.ok(refused > 150 && refused < golden.verdicts.length - 50, refused);
});

test("a name is a variable's, and nothing else", () => {
  for (const name of ["a", "w1", "η", "_", "toString", "__proto__", "abcdefghijkl"]) assert.ok(isName(name), name);
  for (const name of ["", "1a", "tanh", "a b", " a", "a ", "a*b", "(a)", "abcdefghijklm", "v₁", "ä"]) assert.ok(!isName(name), name);
});

test("values are numbers up to a million, by name", () => {
  assert.ok(isValues({}) && isValues({ a: -1e6, b: 0 }) && isSize(0.5));
  for (const bad of [null, 3, "a", [], [1], { a: "1" }, { a: NaN }, { a: 2e6 }, { "a b": 1 }, { tanh: 1 }]) {
    assert.ok(!isValues(bad), JSON.stringify(bad));
  }
});

test("a node that is used twice adds; overwriting loses", () => {
  const given = { x: 1, y: 2 };
  assert.deepEqual(gradients(run("(x + y)*x*y**2", given)), { x: 16, y: 16 });
  assert.deepEqual(gradients(run("(x + y)*x*y**2", given, true)), { x: 4, y: 4 });
  assert.deepEqual(gradients(run("x*x", given, true)), { x: 1 });
  assert.deepEqual(gradients(run("x*y", given, true)), gradients(run("x*y", given)));
});

test("a gradient is the sum over paths", () => {
  for (const { text, given } of golden.cases) {
    const nodes = run(text, given);
    for (const from of nodes.filter(({ needs }) => needs)) {
      reach(nodes, from);
      const all = paths(from);
      assert.equal(all.length, nodes.at(-1).ways);
      const sum = all.reduce((total, path) => total + path.reduce((product, [by, slot]) => product * by.slopes[slot], 1), 0);
      if (Number.isFinite(from.grad)) assert.ok(Math.abs(sum - from.grad) <= 1e-6 * Math.max(1, Math.abs(sum)), `${from.name} of ${text}`);
    }
  }
});

test("many paths are counted, not listed", () => {
  const text = `${Array.from({ length: 15 }, (_, i) => `h${i} = ${i ? `h${i - 1}*h${i - 1}` : "a*a"}`).join("; ")}; h14*a`;
  const nodes = run(text, { a: 1 });
  reach(nodes, nodes[0]);
  const said = byPaths({ nodes, pin: nodes[0], out: "L" });
  assert.equal(said.length, 1);
  assert.match(byPaths({ nodes, pin: undefined, lost: "zz", out: "L" })[0], /No box is called zz/);
  assert.deepEqual(byPaths({ nodes, pin: undefined, lost: null, out: "L" }), []);
  assert.match(said[0], /a to L: 32769\..* 32 edges/);
});

test("what is odd is named, and nothing is said of NaN", () => {
  const odd = (text, given) => run(text, given).map(({ trouble }) => trouble).filter(Boolean).join();
  assert.equal(odd("1/a", { a: 0 }), "/");
  assert.equal(odd("log(a)", { a: 0 }), "log");
  assert.equal(odd("log(a)*2 + a", { a: -1 }), "log");
  assert.equal(odd("sqrt(a)", { a: -1 }), "sqrt");
  assert.equal(odd("sqrt(a)", { a: 0 }), "steep");
  assert.equal(odd("a**0.5", { a: -1 }), "**");
  assert.equal(odd("a**b", { a: -2, b: 2 }), "steep");
  assert.equal(odd("(-a)**3", { a: 2 }), "");
  assert.equal(odd("a**(1 + 1)", { a: -3 }), ""); // the exponent needs no slope
  assert.equal(odd("a*max(1, 1) + relu(0)", { a: 2 }), "");
  assert.equal(odd("exp(a)", { a: 1000 }), "exp");
  assert.equal(odd("relu(a)", { a: 0 }), "kink");
  assert.equal(odd("max(a, 1)", { a: 1 }), "tie");
  for (const text of ["1/a + a", "log(a)", "sqrt(-a - 1)", "exp(1000 + a)"]) {
    const nodes = run(text, { a: 0 });
    for (const it of nodes) {
      const said = described({ ...it, known: true, shown: true }, "L");
      assert.doesNotMatch(said, /NaN|undefined|Infinity/);
    }
    assert.ok(nodes.some((it) => it.trouble && /division|log is|sqrt is|overflow/.test(described({ ...it, known: true }, "L"))), text);
  }
  assert.equal(num(NaN), "no value");
  assert.equal(num(-Infinity), "−∞");
});

test("a leaf lies close to who takes it", () => {
  const nodes = parse("tanh(a*b + c)");
  layout(nodes, 926);
  assert.equal(find(nodes, "c").x, find(nodes, "v₁").x);
  assert.ok(find(nodes, "a").x < find(nodes, "c").x);
});

test("no two nodes overlap, nothing leaves the picture, and each edge ends at its node", () => {
  let wider = 0;
  for (const width of [310, 358, 650, 926]) {
    for (const { text } of golden.cases) {
      const nodes = parse(text);
      const { edges, height, wide, gap, across } = layout(nodes, width);
      wider += wide > width;
      assert.ok(wide >= width && gap >= (across ? 49 : 40) && across === width > 600, text);
      assert.equal(edges.length, nodes.flatMap(({ args }) => args).length);
      nodes.forEach((a, i) => {
        assert.ok(a.x >= 0 && a.x + a.width <= wide && a.y >= 0 && a.y + a.height <= height, `${text} at ${width}`);
        for (const b of nodes.slice(i + 1)) {
          const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
          assert.ok(apart, `${a.name} and ${b.name} of ${text} at ${width}`);
        }
        for (const it of a.args) {
          assert.ok(across ? it.x + it.width < a.x : it.y + it.height < a.y, `${text} goes forward`);
        }
      });
      for (const { to, d, end } of edges) {
        assert.doesNotMatch(d, /NaN|undefined/);
        const [long, beside, from, size] = across ? [end[0] - to.x, end[1], to.y, to.height]
          : [end[1] - to.y, end[0], to.x, to.width];
        assert.ok(Math.abs(long) < 1e-6 && beside > from && beside < from + size, text);
      }
    }
  }
  assert.ok(wider > 100 && wider < 1200, wider);
});

test("chapter 1's networks fit a page", () => {
  for (const text of ["h = tanh(w*x + b); p = v*h + c; (p - y)**2", "-log(sigmoid(y*(w1*x1 + w2*x2 + b)))",
    "h1 = tanh(w1*x + b1); h2 = tanh(w2*x + b2); (v1*h1 + v2*h2 - y)**2"]) {
    const { wide, height } = layout(parse(text), 926);
    assert.ok(wide === 926 && height < 700, `${text}: ${wide} × ${height}`);
  }
});
