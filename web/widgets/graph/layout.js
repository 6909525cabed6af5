// Where the nodes lie: in layers from left to right, or from top to bottom where it is narrow.

import { max, min } from "./evaluate.js";

const WIDE = 72, TALL = 60;
const GAP = 49, BROAD = 90; // between layers: room for a number

/**
 * Gives each node its box: `x`, `y`, `width`, `height`, in pixels.
 *
 * @returns {{height: number, wide: number, gap: number, across: boolean, edges: {from: Node, to: Node,
 *   slot: number, d: string, end: number[]}[]}} one edge an argument, from it to the node that takes it;
 *   as `wide` as there is room, or as it must be; `gap` between two layers, which go `across` or down.
 */
export function layout(nodes, width) {
  for (const it of nodes) it.level = 1 + max(-1, ...it.args.map(({ level }) => level));
  const last = nodes.at(-1).level, across = width > 559;
  const [long, apart] = across ? [WIDE, 14] : [TALL, 5]; // a box along the layers, and between boxes; on a phone it is square
  const gap = across ? max(GAP, min((width - 4 - WIDE) / last - WIDE, BROAD)) : 40, pitch = long + gap;

  // Every leaf has a row of its own, and so has every edge to a node that has its place already:
  // there it passes the layers between, and no other node lies there.
  const edges = [];
  let bottom = across ? 18 : 3;
  const row = (size) => (bottom += size + apart) - apart - size / 2;
  function place(it) {
    const { op, args, users } = it;
    if (!args.length && users[0]) it.level = min(...users.map(([by]) => by.level)) - 1; // close to them
    it.start = it.level * pitch;
    const rows = args.map((from, slot) => {
      const lane = from.middle ? row(TALL / args.length) : place(from);
      edges.push({ from, to: it, slot, lane });
      return lane;
    });
    it.width = long;
    it.height = op === "number" ? 44 : TALL;
    return it.middle = args.length ? rows.reduce((a, b) => a + b) / args.length : row(TALL);
  }
  place(nodes.at(-1));
  const size = last * pitch + long + 4, least = across ? size : bottom - 4, wide = max(width, least), left = (wide - least) / 2;
  /** A point along the layers and beside others. */
  const at = (x, y) => (across ? [left + 2 + x, y] : [left - 2 + y, 18 + x]);
  for (const it of nodes) [it.x, it.y] = at(it.start, it.middle - (across ? it.height : TALL) / 2);
  for (const it of edges) {
    const { from, to, slot, lane } = it, { start, middle } = from;
    const end = [to.start, to.middle + (to.args.length - 1) * (slot - 0.5) * 28];
    it.end = at(...end);
    const turn = to.start - gap, out = start + long; // where the last gap begins, and the first
    const [into, by] = turn > out + 1 ? [start + pitch, lane] : [out, middle];
    const swing = (x0, y0, x1, y1) => `C${at((x0 + x1) / 2, y0)} ${at((x0 + x1) / 2, y1)} ${at(x1, y1)}`;
    // It begins in its box, which is drawn over it.
    it.d = `M${at(start + 40, middle)}${swing(out, middle, into, by)}L${at(turn, by)}${swing(turn, by, ...end)}`;
  }
  return { edges, wide, gap, across, height: across ? max(bottom - 8, wide > width ? 190 : 0) : size + 18 }; // with room for tips
}
