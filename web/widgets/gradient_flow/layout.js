// Where things lie, in CSS pixels: three strips beside each other, then the legend, then the curves:
// on a phone's first screen, too. Where it is wide, the legend is beside the title of the curves.

import { KINDS } from "./maths.js";

const HEADER = 44; // a strip's name, and the length of its gradient
const LEFT = 40;

export function layout(width) {
  const wide = width >= 600;
  const gap = 22;
  const panelWidth = (width - LEFT - 2 * gap - 8) / 3;
  const height = wide ? Math.min(panelWidth * 0.58, 150) : 90;
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
  const x = wide ? 250 : LEFT;
  const legend = { x, y: below + 18, width: Math.min(240, width - x - (wide ? 220 : 30)), beside: wide };
  const chartTop = legend.y + (wide ? 50 : 118);
  const chart = { x: LEFT + 8, y: chartTop, width: width - LEFT - 14, height: wide ? 160 : 150 };
  return { width, panels, legend, chart, height: chart.y + chart.height + 58 };
}

export const LANE = 22; // under the curves: what is 0, and has no place on a log axis
