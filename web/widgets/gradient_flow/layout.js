// Where things lie, in CSS pixels: three strips beside each other, then the legend, then the curves:
// on a phone's first screen, too.

import { KINDS } from "./maths.js";

const HEADER = 44; // a strip's name, and the length of its gradient
const LEFT = 40;

export function layout(width) {
  const wide = width >= 600;
  const gap = 22;
  const panelWidth = (width - LEFT - 2 * gap - 8) / 3;
  const height = wide ? Math.min(panelWidth * 0.62, 150) : 90;
  const panels = KINDS.map((_, i) => ({
    x: LEFT + i * (panelWidth + gap),
    y: HEADER,
    width: panelWidth,
    height,
    few: !wide, // numbers
    labels: !i, // of the rows
    title: wide || i === 2, // of the columns
  }));
  const below = HEADER + height + 38;
  const legend = { x: LEFT, y: below + 18, width: Math.min(240, width - LEFT - 30), beside: wide };
  const chartTop = legend.y + (wide ? 36 : 68) + 50;
  const chart = { x: LEFT + 8, y: chartTop, width: width - LEFT - 14, height: wide ? 180 : 150 };
  return { width, panels, legend, chart, height: chart.y + chart.height + 58 };
}

export const LANE = 22; // under the curves: what is 0, and has no place on a log axis
