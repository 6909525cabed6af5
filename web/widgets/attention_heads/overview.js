// All heads as thumbnails. Colors come from the root's variables, and from one blue and one orange.

import { times } from "../shared/dom.js";
import { colors } from "../shared/heat.js";
import { note, rect, title } from "../shared/marks.js";
import { cividis } from "../shared/ramp.js";
import { abs, ceil, floor, max, min, pool, sqrt } from "./maths.js";

export const BLUE = "#2f86bd", ORANGE = "#d55e00"; // seen on light and on dark paper
export const frame = (x, y, width, height, style) => [rect(x - 1, y - 1, width + 2, height + 2, { class: "halo" }),
  rect(x, y, width, height, { class: "pin", style })];

const RAMP = colors(cividis);
/** What a weight looks like: its root; 0 stays clear. A difference is blue or orange, clearer the nearer to 0. */
const painted = (value, signed) => (!value ? 0 : signed
  ? (255 * sqrt(abs(value))) << 24 | (value < 0 ? 0xbd862f : 0x5ed5) : RAMP[Math.round(255 * sqrt(value))]);
/** One head on its canvas, no larger than it is seen. */
export const paint = (canvas, place, p, rows, columns, signed) => {
  const [high, wide] = [min(rows, ceil(place.height)), min(columns, ceil(place.width))];
  const found = pool(p, rows, columns, high, wide);
  canvas.place(place);
  canvas.paint(high, wide, (pixels) => found.forEach((it, i) => { pixels[i] = painted(it, signed); }));
};

/** All heads on one canvas. @param thumb (layer, head) → its weights, so many rows and columns */
export const thumbnails = (canvas, place, [layers, heads], thumb, rows, columns) => {
  const { width, height, side, pitch, tall } = place;
  const [high, wide] = [min(side, rows), min(side, columns)];
  canvas.place(place);
  canvas.paint(height, width, (pixels) => times(layers * heads, (n) => {
    const layer = floor(n / heads), found = pool(thumb(layer, n % heads), rows, columns, high, wide);
    times(side * side, (at) => {
      const i = floor(at / side), j = at % side;
      pixels[(layer * tall + i) * width + (n % heads) * pitch + j] =
        painted(found[floor((i * high) / side) * wide + floor((j * wide) / side)]);
    });
  }));
};

export const overview = ({ x, y, side, pitch, tall, height }, { view, other, notes }) => {
  const { size: [layers, heads], part } = view.source;
  const around = ({ place: [layer, head] }, dashes) => frame(x + head * pitch - 2, y + layer * tall - 2, side + 4, side + 8,
    `stroke:${ORANGE};stroke-width:3;stroke-dasharray:${dashes}`);
  return [
    title(0, y - 24, notes[5]),
    times(heads, (h) => h % ceil(20 / pitch) || note(x + h * pitch + side / 2, y - 6, h, "middle")),
    times(layers, (l) => [
      l % ceil(15 / tall) || note(x - 8, y + l * tall + side / 2 + 4, l, "end"),
      times(heads, (h) => rect(x + h * pitch, y + l * tall + side + 2,
        side * part("entropy", l, h)[0], 2, { fill: BLUE }))]),
    note(0, y + height + 14, notes[0]),
    other?.source === view.source && around(other, "3 2"),
    around(view, 0)];
};
