// One focusable cell that goes from node to node, over a picture whose nodes lie anywhere.

import { h, set } from "../shared/dom.js";

/** @returns {{node: HTMLElement, place: (boxes: {x, y, width, height}[], height: number) => void}} as
 *   `shared/grid.js` has it; `onPoint` gets −1 where there is no node. */
export function walk({ label, describe, onPoint, onMove, onPin }) {
  let boxes = [], now = 0;
  const cell = h("div", { class: "lm-cell", role: "gridcell", tabindex: 0 });

  function go(to) {
    now = Math.min(Math.max(to, 0), boxes.length - 1);
    const { x, y, width, height } = boxes[now];
    set(cell, { "aria-label": describe(now), style: `left:${x}px;top:${y}px;width:${width}px;height:${height}px` });
  }
  const under = (callback) => (event) => {
    const from = node.getBoundingClientRect();
    const [left, top] = [event.clientX - from.left, event.clientY - from.top];
    callback(boxes.findIndex(({ x, y, width, height }) =>
      left >= x && left <= x + width && top >= y && top <= y + height));
  };
  const node = h("div", {
    class: "lm-grid", role: "grid", "aria-label": label,
    onpointermove: under(onPoint),
    onpointerdown: under(onPoint),
    onpointerleave: () => onPoint(-1),
    onclick: under((i) => {
      if (i >= 0) go(i);
      onPin(i);
    }),
    onkeydown(event) {
      const to = {
        ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: Infinity, Enter: now, " ": now,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      if (to === now) return onPin(now);
      go(to);
      onMove(now);
    },
  }, h("div", { role: "row" }, cell));
  return {
    node,
    place(them, height) {
      boxes = them;
      set(node, { style: `left:0;top:0;width:100%;height:${height}px` });
      go(now);
    },
  };
}
