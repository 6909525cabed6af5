// One color per thing, in every widget and every figure (lmcourse/style.py has the same):
//
//   exact answer   ink, filled: the floor, which no model gets below (drawn with the word "exact")
//   a model        blue, a student's too; an outline where it stands beside the exact answer
//   a teacher      vermillion, unless the teacher is the exact answer
//
// Beside one of them in a picture, nothing else has its color; and what has a color has a letter, a dash
// or a word besides.

export const EXACT = "currentColor", MODEL = "#0072B2", TEACHER = "#D55E00";
