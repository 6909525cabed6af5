// Elements in one line: h("p", { class: "x", onclick: f }, "text", child). Strings become text.

export const h = (tag, properties, ...children) =>
  fill(document.createElement(tag), properties, children);

export const s = (tag, properties, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

/** f(0), f(1), … */
export const times = (count, f) => Array.from({ length: count }, (_, i) => f(i));

/** Sets attributes, and properties that are functions; null and undefined set nothing. */
export function set(element, properties) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (typeof value === "function") element[name] = value;
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  return element;
}

/** Appends; of the children, lists are taken apart; null, false and "" are nobody. */
export function fill(element, properties, children) {
  element.append(...children.flat(3).filter((it) => it || it === 0));
  return set(element, properties);
}
