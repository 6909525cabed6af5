// What stands under the pointer, in words beside it.

import { h, set } from "./dom.js";

/** @returns {{node: HTMLElement, show: (words: string, x: number, y: number, low?: number) => void, hide: () => void}}
 *   x and y in pixels of the stage; the words stand above that point, inside the stage, or below `low` where
 *   that would be above the stage. */
export function tip() {
  const node = h("div", { class: "lm-tip", hidden: "", "aria-hidden": "true" });
  return {
    node,
    show(words, x, y, low) {
      node.textContent = words;
      node.hidden = false;
      const { offsetWidth, offsetHeight, parentNode: { clientWidth, scrollLeft } } = node;
      const left = Math.max(Math.min(x + 12, scrollLeft + clientWidth - offsetWidth), scrollLeft), top = y - offsetHeight - 10;
      set(node, { style: `left:${left}px;top:${top < 0 && low ? low + 10 : top}px` });
    },
    hide() { node.hidden = true; },
  };
}
