// One color per thing, in every widget and every figure (lmcourse/style.py has the same):
//
//   exact answer   ink, filled: the floor, which no model gets below
//   a model        blue, lighter on a dark page, a student's too; an outline where it stands beside the exact answer
//   a teacher      vermillion, unless the teacher is the exact answer
//
// Beside one of them in a picture, nothing else has its color; and what has a color has a letter, a dash
// or a word besides.

export const EXACT = "currentColor", MODEL = "var(--accent)", TEACHER = "#D55E00";

// Parts of a model (lmcourse/style.py has the same); drawn as a tint with an edge of the color, and with words.
export const PARTS = {
  token: "#8c959f", embedding: "#56B4E9", state: "#0072B2", attention: "#E69F00", "feed-forward": "#009E73",
  norm: "#F0E442", gate: "#D55E00", loss: "#CC79A7", linear: "#999999",
};
