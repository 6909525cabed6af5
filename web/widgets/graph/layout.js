// Where the nodes lie: in layers from left to right.

import { max, min } from "./evaluate.js";

export const WIDE = 72;
const TALL = 60;
const GAP = 49, BROAD = 90; // between layers: room for a number

/**
 * Gives each node its box: `x`, `y`, `width`, `height`, in pixels.
 *
 * @returns {{height: number, wide: number, gap: number, edges: {from: Node, to: Node, slot: number,
 * d: string, end: number[]}[]}} one edge an argument, from it to the node that takes it; as `wide` as
 *   there is room, or as it must be; `gap` between two layers.
 */
export function layout(nodes, width) {
  for (const it of nodes) it.level = 1 + max(-1, ...it.args.map(({ level }) => level));
  const last = nodes.at(-1).level;
  const gap = max(GAP, min((width - 4 - WIDE) / last - WIDE, BROAD)), pitch = WIDE + gap;
  const least = last * pitch + WIDE + 4, wide = max(width, least), left = (wide - least) / 2 + 2;

  // Every leaf has a row of its own, and so has every edge to a node that has its place already:
  // there it passes the layers between, and no other node lies there.
  const edges = [];
  let bottom = 18;
  const row = (height) => (bottom += height + 14) - 14 - height / 2;
  function place(it) {
    const { op, args, users } = it;
    if (!args.length && users[0]) it.level = min(...users.map(([by]) => by.level)) - 1; // close to them
    it.x = left + it.level * pitch;
    const rows = args.map((from, slot) => {
      const lane = from.x === undefined ? place(from) : row(TALL / args.length);
      edges.push({ from, to: it, slot, lane });
      return lane;
    });
    it.width = WIDE;
    it.height = op === "number" ? 44 : TALL;
    it.middle = args.length ? rows.reduce((a, b) => a + b) / args.length : row(TALL);
    it.y = it.middle - it.height / 2;
    return it.middle;
  }
  place(nodes.at(-1));
  for (const it of edges) {
    const { from, to, slot, lane } = it;
    const end = it.end = [to.x, to.middle + (to.args.length - 1) * (slot - 0.5) * 28];
    const turn = to.x - gap; // where the last gap begins
    const out = from.x + WIDE;
    const [into, by] = turn > out + 1 ? [from.x + pitch, lane] : [out, from.middle];
    const swing = (x0, y0, x1, y1) => `C${(x0 + x1) / 2} ${y0} ${(x0 + x1) / 2} ${y1} ${x1} ${y1}`;
    it.d = `M${out} ${from.middle}${swing(out, from.middle, into, by)}H${turn}${swing(turn, by, ...end)}`;
  }
  return { edges, wide, gap, height: max(bottom - 8, wide > width ? 190 : 0) }; // with room for tips
}
