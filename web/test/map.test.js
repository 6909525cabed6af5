// Map's mathematics against NumPy (tests/widgets/golden_map.py), and at its ends.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unpack } from "../widgets/shared/arrays.js";
import { cosines, largest, offset, planeOf, prepare } from "../widgets/map/maths.js";
import { layout, scales } from "../widgets/map/picture.js";

const golden = JSON.parse(readFileSync(new URL("map.golden.json", import.meta.url)));
const words = Array.from({ length: 40 }, (_, i) => `w${i}`);
const held = prepare(unpack(golden.arrays, golden.index), { get: (name) => ({ words, group_names: [] })[name] });

function near(found, wanted, what, absolute = 1e-5) {
  assert.ok(Math.abs(found - wanted) <= absolute, `${what}: ${found} instead of ${wanted}`);
}

/** The words of a list, and their cosines. */
function same(vector, without, found, what) {
  const values = cosines(held, vector);
  assert.deepEqual(largest(values, without, 10).map((i) => words[i]), found.map(([word]) => word), what);
  for (const [word, cosine] of found) near(values[held.ids.get(word)], cosine, `${what}, ${word}`);
}

for (const { query, found } of golden.nearest) {
  test(`the neighbors of ${query}`, () => same(held.unit[held.ids.get(query)], [held.ids.get(query)], found, query));
}

for (const { words: asked, with_queries, found } of golden.analogies) {
  test(`${asked.join(" : ")}${with_queries ? ", query words allowed" : ""}`, () => {
    const ids = asked.map((it) => held.ids.get(it));
    same(offset(held.unit, ids), with_queries ? [] : ids, found, asked.join());
  });
}

test("the plane of all words is NumPy's", () => {
  near(held.plane.share, golden.share, "share");
  golden.points.forEach((point, i) => point.forEach((it, k) => near(held.plane.points[i][k], it, `point ${i}`)));
});

for (const { ids, points, share } of golden.planes) {
  test(`the plane of ${ids.join(", ")}`, () => {
    const found = planeOf(held, ids);
    near(found.share, share, "share", 1e-9);
    points.forEach((point, i) => point.forEach((it, k) => near(found.points[i][k], it, `point ${i}`, 1e-7)));
  });
}

test("an analogy's point completes a parallelogram in every plane", () => {
  const ids = [2, 9, 11, 30], { points } = planeOf(held, ids), [x, y] = offset(points, [0, 1, 2]);
  near(x - points[2][0], points[1][0] - points[0][0], "x", 1e-12);
  near(y - points[2][1], points[1][1] - points[0][1], "y", 1e-12);
});

test("a pixel's point is drawn at that pixel, at every zoom", () => {
  const size = layout(800, { rows: [] }, { names: [] });
  for (const now of [{ center: null, zoom: 1 }, { center: [0.3, -0.2], zoom: 7 }]) {
    const { to, back, center } = scales(size, held.plane.points, now);
    back(...to([0.1, 0.2])).forEach((it, k) => near(it, [0.1, 0.2][k], "back", 1e-12));
    to(center).forEach((it, k) => near(it, [size.map.x + size.map.width / 2, size.map.y + size.map.height / 2][k], "middle", 1e-9));
  }
  const { to } = scales(size, held.plane.points, { center: null, zoom: 1 });
  for (const point of held.plane.points) {
    const [x, y] = to(point);
    assert.ok(x > size.map.x && x < size.map.x + size.map.width && y > size.map.y && y < size.map.y + size.map.height);
  }
});

test("vectors of zeros are near nothing and are drawn in the middle", () => {
  const none = { ...held, unit: [new Float64Array(7), new Float64Array(7)] };
  assert.deepEqual(cosines(none, none.unit[0]), [0, 0]);
  assert.deepEqual(planeOf(none, [0, 1]), { points: [[0, 0], [0, 0]], share: 1 });
});
