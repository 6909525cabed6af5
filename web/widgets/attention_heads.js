// AttentionHeads: every head of every layer, and one of them as a map, as lines, or as scores by dimension.

import { widget } from "./shared/widget.js";
import { read } from "./attention_heads/data.js";
import { build, fields } from "./attention_heads/view.js";

const TITLE = "What does each token attend to?";

export default widget({
  name: "attention-heads",
  label: TITLE, title: TITLE,
  intro: "Select a token or a head.",
  call: "AttentionHeads(**given, ",
  read,
  fields,
  build,
});
