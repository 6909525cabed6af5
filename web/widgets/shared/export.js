// A picture as a file: the SVG with its styles written out, or painted into a PNG.

import { h, s, set } from "./dom.js";

const STYLES = ("fill,stroke,stroke-width,stroke-dasharray,stroke-linecap,opacity," +
  "font-family,font-size,font-weight,text-anchor").split(",");

const MARGIN = 12;

/** @returns {Blob} the SVG as it looks now, with the canvases beside it, on its own background. */
export function svgOf(svg) {
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLES) set(element, { [name]: style.getPropertyValue(name) });
    element.removeAttribute("class");
  });
  for (const it of svg.parentNode.children) if (it.inSvg) copy.prepend(it.inSvg());
  const box = svg.viewBox.baseVal;
  const [width, height] = [box.width + 2 * MARGIN, box.height + 2 * MARGIN];
  const paper = { x: -MARGIN, y: -MARGIN, width, height };
  set(copy, { width, height, viewBox: Object.values(paper).join(" ") });
  copy.prepend(s("rect", { ...paper, fill: getComputedStyle(svg.closest(".lm")).backgroundColor }));
  return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
}

/** @returns {Promise<Blob>} the same picture in pixels, sharp on paper. */
export async function pngOf(svg, scale = 3) {
  const image = new Image();
  image.src = URL.createObjectURL(svgOf(svg));
  try {
    await image.decode();
    const canvas = h("canvas", { width: image.width * scale, height: image.height * scale });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done));
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

export function saveAs(root, name, blob) {
  const link = root.appendChild(h("a", { href: URL.createObjectURL(blob), download: name, hidden: "" }));
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
