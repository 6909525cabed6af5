// Where things lie, in CSS pixels: heads, and heat map and lines beside each other where there is room,
// else one below the other, and the heads below both. One weight's arithmetic is below the heads.

import { ceil, floor, max, min } from "./maths.js";

/**
 * @param {{many: boolean, layers, heads, rows, columns, left, top, two: boolean, signed: boolean, lines: number}} size how many there
 *   are; room for the queries' and the keys' labels; whether two heads stand side by side, or one minus the other; lines of
 *   arithmetic.
 */
export const layout = (width, { many, layers, heads, rows, columns, left, top, two, signed, lines }) => {
  const wide = width > (many ? 639 : 819), beside = width > 539;
  const pitch = min(max(floor((width > 819 ? 280 : wide ? 150 : min(width, 460) - 34) / heads), 4), 60);
  const overview = many && { x: 34, y: 36, pitch, side: pitch - ceil(pitch / 6), tall: pitch + 6,
    width: heads * pitch, height: layers * (pitch + 6) };
  const over = overview ? overview.height + 62 : 0;
  const close = width < 820; // as on a slide
  const aside = wide && (over || lines) ? max(34 + heads * pitch, close ? 176 : 220) : 0;
  const x = left + aside + (aside && (close ? 20 : 32));
  const y = top + (signed ? 50 : 34);
  const right = min(top, 96) + 54;
  const space = width - x - 2;
  const room = two && beside ? (space - 20) / 2 : space;
  const cell = min((beside && !two ? space - (wide && close ? 70 : 90) - right : room) / columns, 34);
  // Rows that can be read, if all of them can; else a map that is not flat.
  const deep = rows < 31 ? max(cell, 15) : max(min(cell, 460 / rows), 260 / rows);
  const heat = { x, y, width: columns * cell, height: rows * deep, left, top, room };
  const second = two && (beside ? { ...heat, x: x + room + 20, left: 0 }
    : { ...heat, y: y + heat.height + top + 58 });
  const legend = { x: min(x, width - 242), y: (second || heat).y + heat.height + 28 };
  const high = two ? 210 : max(heat.height, min(columns * 15, 300));
  const fan = beside && !two
    ? { x: x + heat.width, width: min(130, space - heat.width - right), from: y, deep, high, right }
    : { x, width: width - x - 2 - right, from: legend.y + 50, deep: high / rows, high, right, own: left };
  const end = max(legend.y + 28, fan.from + high, wide && over) + 12, bottom = end + (wide ? 0 : over);
  if (!wide && overview) overview.y += end;
  const from = (wide ? over : bottom) + 24;
  const sum = lines && { y: from, width: wide ? aside : min(width, 320), height: 20 * lines + 20 };
  return { overview, maps: [heat, second], legend, fan, sum,
    tokens: [{ x: x - left, y, width: left, height: heat.height }, { x, y: y - top, width: heat.width, height: top }],
    height: ceil(sum ? max(bottom, from + sum.height) : bottom) };
};
