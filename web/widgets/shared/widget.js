// The life of a widget: from a host's model to a picture that follows its settings, and its end.

import { unpack } from "./arrays.js";
import { buttons } from "./buttons.js";
import { fill, h, s, set } from "./dom.js";
import { frame, onWidth } from "./frame.js";
import { settings } from "./settings.js";
import { valuesTable } from "./table.js";
import { tip } from "./tip.js";

/**
 * @param {{
 *   name: string, label: string, title: string, intro: string, call: string,
 *   read: (arrays: Object, model) => data, fields: (data) => Object,
 *   build: (it: {data, view, model, signal, root: HTMLElement, svg: SVGElement, moving: SVGElement,
 *     caption: HTMLElement, controls: [string, {node: HTMLElement}][], tip, say: (text: string) => void, refresh: () => void}) => Parts}} options
 *   `name` is the stem of files and links, `label` what a screen reader calls the whole, `call` the
 *   Python call up to its settings (`GradientFlow(network, `), `read` what is made of the arrays
 *   once, `fields` the settings in order, with or without a control (shared/controls.js); `refresh`
 *   draws anew, with nothing changed, what comes from elsewhere.
 * @typedef {{
 *   under?: HTMLElement[], over?: HTMLElement[], above?: HTMLElement[], below?: HTMLElement[],
 *   table: () => {caption: string, head: string[], rows: string[][]},
 *   draw: (now, changed: string[], width: number) =>
 *     {height: number, wide?: number, alt: string, caption?: string, still: SVGElement[]}}} Parts
 *   elements in the stage under the SVG (canvases) and over it (grids); beside the stage, above
 *   (players) and below it. `draw` lays everything out for a width in pixels and says the picture in words;
 *   `changed` names the settings that changed since it drew last: none of them when only the width did, and
 *   all at first. What follows the pointer goes into `moving`, which draws above the rest. The `caption`
 *   stands under the controls, these under the stage, or where `build` put them: a reader of a small screen sees
 *   the picture first, and what is dragged does not move with the length of a caption; `wide` is a picture's width that is not the stage's.
 */
export function widget({ name, label, title, intro, call, read, fields, build }) {
  return {
    render({ model, el }) {
      const data = read(unpack(model.get("arrays"), model.get("index")), model);
      const { root, signal, end, look } = frame(el, label);
      const all = fields(data);
      const view = settings(model, all, signal, (changed) => update(changed));
      const controls = Object.entries(all).filter(([, it]) => it.make).map(([field, it]) => [field, it.make({
        onInput: (value) => view.set(field, value),
        onSettle: () => view.settle(),
      })]);
      const reflect = () => { for (const [field, it] of controls) it.show(view.get()[field], view.get()); };
      let width = 0;
      let wanted = Object.keys(all); // settings that changed since the last picture
      let waiting = false;
      const still = s("g"), moving = s("g");
      const svg = s("svg", { role: "img" }, still, moving);
      const status = h("p", { role: "status", class: "lm-soft" });
      const caption = h("p");
      const say = (words) => { status.textContent = words; };
      const hint = tip();
      const { under, over, above, below, table, draw } =
        build({ data, view, model, signal, root, svg, moving, caption, controls, tip: hint, say, refresh: () => update([]) });
      const values = valuesTable(table);
      const actions = buttons({ model, view, name, call, svg, say, signal, root, below: values.node });
      const stage = h("div", { class: "lm-stage" }, under, svg, over, hint.node);
      fill(root, null, [
        h("p", { class: "lm-title" }, title),
        intro && h("p", { class: "lm-soft" }, intro),
        above, stage, h("div", { class: "lm-controls" }, controls.map(([, { node }]) => !node.parentNode && node)),
        !caption.parentNode && caption, status, below, actions.node]);

      function show() {
        waiting = false;
        if (signal.aborted || !width) return;
        const changed = wanted;
        wanted = [];
        const { height, alt, caption: words, still: marks, wide = width } = draw(view.get(), changed, width);
        set(svg, { viewBox: `0 0 ${wide} ${height}`, "aria-label": alt });
        still.replaceChildren(...marks.flat(9).filter(Boolean));
        set(caption, { "aria-live": view.moving() ? "off" : "polite" });
        if (words !== caption.textContent) caption.textContent = words;
        values.update();
        actions.update();
      }

      function update(changed) {
        wanted.push(...changed);
        if (!waiting) requestAnimationFrame(show);
        waiting = true;
        reflect();
      }

      reflect();
      onWidth(stage, signal, (now) => {
        look();
        if (now === width) return;
        width = now;
        moving.replaceChildren();
        hint.hide();
        show();
      });
      return end;
    },
  };
}
