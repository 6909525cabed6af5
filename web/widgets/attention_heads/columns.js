// Where things lie without a map, in CSS pixels: heads, and tokens beside them where there is room, else below.

import { ceil, floor, max, min } from "./maths.js";

/** All heads as thumbnails, beside the picture or below it, and where the picture starts. */
const start = (width, { many, layers, heads, left, top }, lines) => {
  const wide = width > 639;
  const pitch = min(max(floor((width > 819 ? 280 : wide ? 180 : min(width, 460) - 34) / heads), 4), 60);
  const overview = many && { x: 34, y: 36, pitch, side: pitch - ceil(pitch / 6), tall: pitch + 6,
    width: heads * pitch, height: layers * (pitch + 6) };
  const over = overview ? overview.height + 62 : 0;
  const aside = wide && (over || lines) ? max(34 + heads * pitch, 220) : 0;
  return { wide, overview, over, aside, x: left + aside + (aside && 32), right: min(top, 96) + 54,
    // Below a picture that ends there; then what follows them.
    below: (end) => (!wide && overview ? (overview.y += end, end + over) : max(end, over)) };
};

/** Two columns of tokens. @param {{lanes: number}} size as for `layout`, and how many heads' lines stand side by side. */
export const columns = (width, size) => {
  const { rows, columns, left, lanes } = size, { overview, x, right: all, below } = start(width, size);
  const right = lanes > 1 ? all - 40 : all; // no weights beside the keys
  const most = max(rows, columns), high = most * min(18, 560 / most), y = 54;
  const lines = { x, y, width: min(200 + 140 * lanes, width - x - 2 - right), right, high };
  return { overview, left, ...lines,
    tokens: [{ x: x - left, y, width: left, height: high }, { x: x + lines.width, y, width: right, height: high }],
    height: ceil(below(y + high + 12)) };
};

/** One query's vector over all keys', and their products: three strips, without the keys' where they have no room, with room for a score, a weight and a key beside them. */
export const strips = (width, size) => {
  const { rows, columns, left, lines } = size, { wide, overview, over, aside, x, right, below } = start(width, size, lines);
  const deep = min(18, 560 / max(rows, columns)), high = columns * deep, y = 92;
  const both = width > 539 && width - x - right > 120, end = width - (both ? right : min(right, 132)) - 52, room = both ? (end - x - 16) / 2 : end - x;
  const bottom = below(y + max(rows * deep, high) + 12), from = (wide ? over : bottom) + 24;
  const sum = { y: from, width: wide ? aside : min(width, 320), height: 20 * lines + 20 };
  const strip = (n, y, height) => ({ x: x + (n && both) * (room + 16), y, width: room, height });
  return { overview, x, y, left, end, deep, high, sum,
    strips: [strip(0, y - 44, 12), both && strip(0, y, high), strip(1, y, high)],
    tokens: [{ x: x - left, y, width: left, height: rows * deep }, { x: end + 90, y, width: width - end - 90, height: high }],
    height: ceil(max(bottom, from + sum.height)) };
};
