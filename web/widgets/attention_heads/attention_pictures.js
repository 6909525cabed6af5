// The pictures of attention, and what they show in place of one head's weights: a script before the widget's module
// (build.mjs), which has it as `attentionPictures`.

import { lines } from "./lines.js";
import { map } from "./map.js";
import { scores } from "./scores.js";

export { change } from "./maths.js";

/** By name; it and over as in view.js. @returns {Object<string, {over, count, point, draw}>} */
export const pictures = (it, over) => {
  const both = lines(it);
  return { "map": map(it, over), "lines": both, "heads": both, "scores": scores(it, over) };
};
