// Heat maps on a canvas, one pixel a cell, through one table of colors.

import { h, s, set, times } from "./dom.js";

/** 256 colors as a canvas keeps them. @param {(place: number) => number[]} ramp from 0 to 1. */
export const colors = (ramp) => new Uint32Array(new Uint8Array(
  times(256, (i) => [...ramp(i / 255), 255]).flat()).buffer);

const SHARP = "image-rendering:pixelated";

/**
 * A canvas in the stage, under its SVG; an export takes it along (shared/export.js).
 *
 * @returns {{node: HTMLCanvasElement, place: (box) => void,
 *   paint: (rows: number, columns: number, fill: (pixels: Uint32Array) => void) => void}} `paint` hands
 *   over rows × columns pixels, all clear, to be filled with `colors`; clear shows the background.
 */
export function heat() {
  const node = h("canvas", { "aria-hidden": "true" });
  node.inSvg = () => s("image", { ...at, preserveAspectRatio: "none", style: SHARP, href: node.toDataURL() });
  let at = {};
  return {
    node,
    place({ x, y, width, height }) {
      at = { x, y, width, height };
      set(node, { style: `position:absolute;${SHARP};left:${x}px;top:${y}px;width:${width}px;height:${height}px` });
    },
    paint(rows, columns, fill) {
      set(node, { width: columns, height: rows });
      const pen = node.getContext("2d");
      const image = pen.createImageData(columns, rows);
      fill(new Uint32Array(image.data.buffer));
      pen.putImageData(image, 0, 0);
    },
  };
}
