// Undo, reset, a copy of the view, and the picture as a file.

import { button } from "./controls.js";
import { h, set } from "./dom.js";
import { pngOf, saveAs, svgOf } from "./export.js";

/**
 * @param {{model, view, name: string, call: string, svg: SVGElement, say: (text: string) => void,
 *   signal: AbortSignal, root: HTMLElement, below: HTMLElement}} options `view` is what `settings` returns, `call` the
 *   Python call up to its settings, `name` the stem of files and, with no other key, of links; `below` is
 *   what opens below the buttons.
 */
export function buttons({ model, view, name, call, svg, say, signal, root, below }) {
  const page = root.ownerDocument.defaultView;
  const key = model.get("_key") ?? name;
  const copied = h("input", { class: "lm-copy", readonly: "", hidden: "", "aria-label": "Copied text" });
  const inNotebook = model.widget_manager || !/^(http|file)/.test(page.location.protocol);
  async function copy() {
    copied.value = inNotebook ? `${call}${view.python()})`
      : page.location.href.replace(/#.*/, "") + view.hash(key);
    copied.hidden = false;
    try {
      await page.navigator.clipboard.writeText(copied.value);
      say("Copied.");
    } catch {
      copied.select();
      say("Press Ctrl+C to copy.");
    }
  }
  const undo = button("Undo", view.undo);
  if (!inNotebook) {
    const arrive = () => { if (view.restore(page.location.hash, key)) root.scrollIntoView(); };
    page.addEventListener("hashchange", arrive, { signal });
    arrive();
  }
  return {
    node: h("div", null,
      h("div", { class: "lm-buttons" },
        undo,
        button("Reset", view.reset),
        button(inNotebook ? "Copy as Python" : "Copy link", copy),
        button("Save PNG", async () => saveAs(root, `${name}.png`, await pngOf(svg))),
        button("Save SVG", () => saveAs(root, `${name}.svg`, svgOf(svg))),
        below),
      copied),
    update() { set(undo, { "aria-disabled": !view.canUndo() }); },
  };
}
