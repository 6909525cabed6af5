// The pieces that all widgets share, as far as they need no browser.

import assert from "node:assert/strict";
import test from "node:test";
import { unpack } from "../widgets/shared/arrays.js";
import { checkbox, line, range, select, whole } from "../widgets/shared/controls.js";
import { decades, power, short, steps } from "../widgets/shared/numbers.js";
import { cividis } from "../widgets/shared/ramp.js";
import { settings } from "../widgets/shared/settings.js";

test("arrays come as base64, ArrayBuffer, Uint8Array or a DataView into something larger", () => {
  const all = new Uint8Array([7, 255, 1, 0, 0, 128, 63, 0, 0, 0, 192]); // 1.0 and -2.0 from byte 3
  const index = {
    small: { dtype: "uint8", shape: [3], offset: 0 },
    large: { dtype: "float32", shape: [2, 1], offset: 3 }, // not a multiple of 4
  };
  const wider = new Uint8Array([9, 9, ...all, 9]);
  const forms = [all, all.buffer, btoa(String.fromCharCode(...all)), new DataView(wider.buffer, 2, 11)];
  for (const form of forms) {
    const { small, large } = unpack(form, index);
    assert.deepEqual([...small.data], [7, 255, 1]);
    assert.deepEqual([...large.data], [1, -2]);
    assert.deepEqual(large.shape, [2, 1]);
  }
});

test("numbers are short", () => {
  const wanted = [[0, "0"], [0.0417, "0.0417"], [12.34, "12.3"], [999.4, "999"], [1000, "1.0·10³"],
    [0.0099, "9.9·10⁻³"], [3.14159e-12, "3.1·10⁻¹²"], [Infinity, "overflow"], [NaN, "overflow"]];
  for (const [x, text] of wanted) assert.equal(short(x), text);
  assert.equal(power(-104), "10⁻¹⁰⁴");
});

test("axes carry few labels, from one end on", () => {
  assert.deepEqual(decades(-12, 4), [-12, -8, -4, 0, 4]);
  assert.deepEqual(decades(-12, 28), [-12, 0, 12, 24]);
  assert.deepEqual(decades(0, 2), [0, 1, 2]);
  assert.deepEqual(steps(60), [1, 10, 20, 30, 40, 50, 60]);
  assert.deepEqual(steps(9), [1, 2, 4, 6, 8]);
  for (const last of [1, 2, 7, 33, 128, 500]) assert.ok(steps(last).length <= 8, String(last));
});

test("the ramp is cividis, and stays within its ends", () => {
  assert.deepEqual(cividis(0), [0, 34, 78]);
  assert.deepEqual(cividis(1), [254, 232, 56]);
  assert.deepEqual(cividis(0.5), [125, 124, 120]);
  assert.deepEqual(cividis(-3), cividis(0));
  assert.deepEqual(cividis(7), cividis(1));
});

/** A model that is no more than MyST's: all but get, set and on throws. */
function strict(state) {
  const heard = {};
  const never = () => { throw new Error("not there"); };
  return {
    state, heard, off: never, save_changes: never, send: never,
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    on: (name, f) => { heard[name] = f; },
  };
}

const FIELDS = {
  size: range({ start: 1, positions: [0.5, 1, 2, 3] }),
  steps: range({ start: null, positions: [1, 2, 3, null] }),
  kind: select({ start: "a", choices: { a: "A", b: "B" } }),
};

function opened(state = {}) {
  const model = strict(state), changes = [], stop = new AbortController();
  const view = settings(model, FIELDS, stop.signal, (changed) => changes.push(changed));
  return { model, view, changes, stop };
}

test("a whole number without a control lies below its count, and is null if it starts so", () => {
  const kept = (field) => [0, 1, 2, -1, 0.5, "1", true, null, NaN, 1e400].filter(field.takes);
  assert.deepEqual(kept(whole(2)), [0, 1]);
  assert.deepEqual(kept(whole(2, null)), [0, 1, null]);
  assert.deepEqual(kept(range({ start: null, positions: [null] })), [null]);
});

test("settings start with what the model has, if it can be shown", () => {
  assert.deepEqual(opened({ size: 1.7, steps: 2, kind: "b" }).view.get(), { size: 1.7, steps: 2, kind: "b" });
  const bad = { size: 4, steps: 2.5, kind: "toString" };
  assert.deepEqual(opened(bad).view.get(), { size: 1, steps: null, kind: "a" });
  assert.deepEqual(opened({ size: "2", steps: true }).view.get(), { size: 1, steps: null, kind: "a" });
});

test("one drag is one step back, and a reset can be undone", () => {
  const { model, view, changes } = opened();
  for (const size of [2, 2.5, 3]) view.set("size", size);
  view.settle();
  view.set("size", 2);
  view.set("kind", "b");
  assert.deepEqual(model.state, { size: 2, kind: "b" });
  view.undo();
  assert.deepEqual(view.get(), { size: 2, steps: null, kind: "a" });
  view.undo();
  assert.equal(view.get().size, 3);
  view.reset();
  assert.equal(model.state.size, 1);
  view.undo();
  assert.equal(view.get().size, 3);
  view.undo();
  assert.equal(view.get().size, 1);
  assert.equal(view.canUndo(), false);
  view.undo();
  view.reset();
  assert.equal(view.canUndo(), false);
  assert.deepEqual(changes[0], ["size"]);
});

test("a link brings back what it can, and only its own widget's", () => {
  const { view } = opened();
  view.set("steps", 3);
  view.set("kind", "b");
  const link = view.hash("key");
  const other = opened().view;
  assert.equal(other.restore(link, "another"), false);
  assert.equal(other.get().kind, "a");
  assert.equal(other.restore(link, "key"), true);
  assert.deepEqual(other.get(), view.get());
  assert.equal(other.restore("#view=key&size=99&steps={&kind=%22b%22", "key"), true);
  assert.deepEqual(other.get(), view.get());
  assert.equal(view.python(), 'size=1, steps=3, kind="b"');
});

test("the host's changes are shown and not sent back; after the end nothing is heard", () => {
  const { model, view, changes, stop } = opened();
  model.state.size = 3;
  model.heard["change:size"]();
  assert.equal(view.get().size, 3);
  assert.equal(view.canUndo(), false);
  model.state.size = "huge";
  model.heard["change:size"]();
  assert.equal(view.get().size, 3);
  stop.abort(); // and `off` throws
  model.state.size = 2;
  model.heard["change:size"]();
  assert.equal(view.get().size, 3);
  assert.equal(changes.length, 1);
});

test("settings are written as Python writes them", () => {
  const text = 'say "null"\\\n\u2028';
  const fields = {
    pins: { start: [1, null], takes: Array.isArray },
    on: checkbox({ start: true }),
    words: line({ start: text, most: 30 }),
    step: range({ start: null, positions: [1, null] }),
  };
  const view = settings(strict({}), fields, new AbortController().signal, () => {});
  assert.equal(view.python(), `pins=[1, None], on=True, words=${JSON.stringify(text)}, step=None`);
});

test("a list is the same when it holds the same; several settings are one step back", () => {
  const changes = [], model = strict({});
  const fields = { pins: { start: [1], takes: Array.isArray }, words: line({ start: "", most: 3 }) };
  const view = settings(model, fields, new AbortController().signal, (it) => changes.push(it));
  view.assign({ pins: [1] });
  assert.deepEqual([changes, view.canUndo()], [[], false]);
  view.assign({ pins: [2], words: "abc" });
  view.undo();
  assert.deepEqual(view.get(), { pins: [1], words: "" });
  model.set("words", "abcd");
  model.heard["change:words"]();
  assert.equal(view.get().words, "");
});
