// What stands under the pointer, in words beside it.

import { h, set } from "./dom.js";

/** @returns {{node: HTMLElement, show: (words: string, x: number, y: number) => void, hide: () => void}}
 *   x and y in pixels of the stage; the words stand above that point, inside the stage. */
export function tip() {
  const node = h("div", { class: "lm-tip", hidden: "", "aria-hidden": "true" });
  return {
    node,
    show(words, x, y) {
      node.textContent = words;
      node.hidden = false;
      const left = Math.min(x + 12, node.parentNode.clientWidth - node.offsetWidth);
      set(node, { style: `left:${Math.max(0, left)}px;top:${y - node.offsetHeight - 10}px` });
    },
    hide() { node.hidden = true; },
  };
}
