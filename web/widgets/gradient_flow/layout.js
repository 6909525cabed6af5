// Where things lie, in CSS pixels: three strips beside each other where there is room, else one
// under the other; then the legend, then the curves.

import { KINDS } from "./maths.js";

const HEADER = 44; // a strip's name, and the length of its gradient
const LEFT = 40;

export function layout(width) {
  const wide = width >= 600;
  const gap = 22;
  const panelWidth = wide ? (width - LEFT - 2 * gap - 8) / 3 : width - LEFT - 8;
  const height = wide ? Math.min(panelWidth * 0.62, 150) : 104;
  const panels = KINDS.map((_, i) => ({
    x: LEFT + (wide ? i * (panelWidth + gap) : 0),
    y: HEADER + (wide ? 0 : i * (height + HEADER + 20)),
    width: panelWidth,
    height,
    labels: !wide || i === 0, // of the rows
    title: wide || i === KINDS.length - 1, // of the columns
  }));
  const below = panels.at(-1).y + height + 38;
  const legend = { x: LEFT, y: below + 18, width: Math.min(240, width - LEFT - 30), beside: wide };
  const chartTop = legend.y + (wide ? 36 : 68) + 50;
  const chart = { x: LEFT + 8, y: chartTop, width: width - LEFT - 14, height: wide ? 180 : 200 };
  return { width, panels, legend, chart, height: chart.y + chart.height + 58 };
}

export const LANE = 22; // under the curves: what is 0, and has no place on a log axis
