// The numbers behind a picture, as a table that is built when it is asked for.

import { h } from "./dom.js";

/** @param {() => {caption: string, head: string[], rows: string[][]}} contents */
export function valuesTable(contents) {
  const place = h("div", { class: "lm-table", tabindex: 0, role: "region", "aria-label": "Values" });
  const details = h("details", { ontoggle: () => update() }, h("summary", null, "Show values"), place);
  const update = () => {
    if (!details.open) return;
    const { caption, head, rows } = contents();
    place.replaceChildren(h("table", null,
      h("caption", null, caption),
      h("thead", null, h("tr", null, ...head.map((it) => h("th", { scope: "col" }, it)))),
      h("tbody", null, ...rows.map(([first, ...rest]) =>
        h("tr", null, h("th", { scope: "row" }, first), ...rest.map((it) => h("td", null, it)))))));
  };
  return { node: details, update };
}
