// Where things lie, in CSS pixels. Where there is room, a class is one row; else its name stands
// over its bars, and one chart under the other.

export function layout(width, count, few) {
  const wide = width >= 600;
  const head = few ? 22 : wide ? 92 : 144;
  const left = wide ? 136 : 16; // of the bars
  const free = width - (few ? left + 54 : wide ? 362 : 104);
  const long = free * (few ? 1 : wide ? 0.58 : 0.52); // the longest
  const end = left + long + 54; // of the numbers behind them
  const top = head + 34, tall = wide ? few ? 37 : 42 : 62; // of the rows
  const bottom = top + count * tall;
  const each = wide ? width / 2 - 20 : width;
  const charts = [0, 1].map((i) => ({
    x: 44 + (wide ? i * (each + 40) : 0),
    y: bottom + 144 + (wide ? 0 : i * 312),
    width: each - 62,
    height: 190,
  }));
  const half = (free - long) / 2; // of the gradients, to each side
  return { width, wide, few, head, left, long, end, half, zero: end + (wide ? 34 : 22) + half,
    top, tall, bottom, charts, height: few ? bottom + 24 : charts[1].y + 236 };
}
