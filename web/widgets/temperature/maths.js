// Soft targets, their entropies, the loss and its gradient by the student's logits, in float64
// (Hinton, Vinyals and Dean 2015, section 2.1; lmcourse/models/distillation.py has the same in torch).

import { times } from "../shared/dom.js";
import { logSoftmax, softmax } from "../shared/softmax.js";

export { logSoftmax, softmax };

/** T from 0.1 to 1000, ten a decade. */
export const TEMPERATURES = times(41, (i) => +(10 ** (i / 10 - 1)).toPrecision(2));
export const LAST = 50; // steps of gradient descent
const SHOWN = 10; // classes with a row of their own

/** What a widget holds: one row of logits an example. */
export function prepare({ teacher, student }, model) {
  const [count, n] = teacher.shape;
  const rows = ({ data }) => times(count, (i) => Float64Array.from(data.subarray(i * n, (i + 1) * n)));
  const teachers = rows(teacher);
  return {
    count, n, teachers, students: rows(student),
    classes: model.get("classes"), names: model.get("examples"),
    best: teachers.map((z) => order(z)[0]),
  };
}

/** Classes from the largest logit to the smallest; of equal ones the first comes first. */
const order = (z) => [...z.keys()].sort((a, b) => z[b] - z[a] || a - b);

const expected = (log, f) => log.reduce((sum, l, i) => sum + Math.exp(l) * f(l, i), 0);

/** −Σ p log p in nats, of log-probabilities; 0 log 0 is 0. */
export const entropy = (log) => Math.max(0, -expected(log, (l) => l));

/** KL(p ‖ q) in nats, of log-probabilities; rounding takes it no lower than 0. */
export const divergence = (p, q) => Math.max(0, expected(p, (l, i) => l - q[i]));

export const norm = (x) => Math.sqrt(x.reduce((sum, it) => sum + it * it, 0));

/** ∂KL(t ‖ s)/∂z = (s − t)/T. @param t the teacher's soft targets. @param z the student's logits. */
export const pull = (t, z, T) => softmax(z, T).map((s, i) => (s - t[i]) / T);

/** What T² times that comes to for T → ∞, and about T² times what it is at a high T: differences of centered logits by the number of classes. */
export function farPull(teacher, z) {
  const away = z.map((it, i) => it - teacher[i]);
  const mean = away.reduce((a, b) => a + b) / away.length;
  return away.map((it) => (it - mean) / z.length);
}

/** ∂L_s/∂z of L_s = −log softmax(z) at the label: it has no temperature. */
export const labelGradient = (z, label) => softmax(z, 1).map((s, i) => s - (i === label));

/** ∂L/∂z of L = α L_d + (1 − α) L_s. @param own the gradient of KL, or an approximation. */
export function gradient(own, z, { temperature: T, scaled, alpha }, label) {
  const factor = alpha * (scaled ? T * T : 1);
  const hard = alpha < 1 && labelGradient(z, label);
  return own.map((it, i) => factor * it + (hard && (1 - alpha) * hard[i]));
}

/**
 * Gradient descent on the student's logits.
 * @returns {{z: Float64Array, kl: number[]}} the logits after `now.step` steps, and KL(t ‖ s) at this
 *   temperature after each of LAST.
 */
export function descend(teacher, start, now, label) {
  const T = now.temperature, log = logSoftmax(teacher, T), t = log.map(Math.exp);
  let at = start, z = start;
  const kl = times(LAST + 1, (i) => {
    if (i) {
      const g = gradient(pull(t, at, T), at, now, label);
      at = at.map((it, k) => it - now.learning_rate * g[k]);
    }
    if (i === now.step) z = at;
    return divergence(log, logSoftmax(at, T));
  });
  return { z, kl };
}

/**
 * The classes with a row: all, or the label, the pinned one, the teacher's best and the student's;
 * from the teacher's best on, whatever T is.
 */
export function chosen(teacher, student, label, pinned) {
  const best = order(teacher);
  if (best.length <= SHOWN + 1) return best;
  const wanted = new Set([label, pinned, ...best.slice(0, SHOWN - 3), ...order(student).slice(0, SHOWN)]);
  const kept = [...wanted].slice(0, SHOWN);
  return best.filter((it) => kept.includes(it));
}

/** Everything that the picture shows. */
export function measure(held, now) {
  const { n, classes, names } = held;
  const { example, temperature: T, scaled, alpha } = now;
  const teacher = held.teachers[example], label = now.labels[example];
  const pinned = now.pinned ?? held.best[example];
  const start = held.students[example].slice();
  for (const [at, index, amount] of now.moves) if (at === example) start[index] += amount;
  const runs = [true, false].map((it) => descend(teacher, start, { ...now, scaled: it }, label));
  const { z } = runs[+!scaled];
  const logs = [teacher, z].map((it) => logSoftmax(it, T));
  const t = softmax(teacher, T), own = pull(t, z, T), far = farPull(teacher, z);
  const columns = Object.entries({
    zT: teacher, zS: z, t, s: softmax(z, T), t1: softmax(teacher, 1), s1: softmax(z, 1),
    g: gradient(own, z, now, label),
    first: gradient(far.map((it) => it / T / T), z, now, label), // the leading term for T → ∞, ∝ 1/T²; times T², the limit
  });
  const row = (pick) => Object.fromEntries(columns.map(([key, values]) => [key, pick(values)]));
  const shown = chosen(teacher, held.students[example], label, pinned);
  const rows = shown.map((index) => ({ index, name: classes[index], ...row((values) => values[index]) }));
  if (rows.length < n) {
    const rest = (values) => values.reduce((sum, it, i) => sum + (shown.includes(i) ? 0 : it), 0);
    rows.push({ name: `the other ${n - rows.length}`, ...row(rest) });
  }
  const kl = divergence(...logs), soft = kl * (scaled ? T * T : 1), hard = Math.abs(logSoftmax(z, 1)[label]);
  const paths = runs.map((it) => it.kl);
  return {
    ...now, T, at: +T.toPrecision(4), n, label, pinned, rows, name: names[example] ?? "", paths,
    facts: [
      ["Entropy of t", entropy(logs[0])],
      ["Entropy of s", entropy(logs[1])],
      ["KL(t ‖ s)", kl],
      [scaled ? "L_d = T² KL" : "L_d = KL", soft],
      ["L_s, label", hard],
      ["Loss L", alpha * soft + (1 - alpha) * hard],
    ],
    whole: ceiling(rows.flatMap((it) => [it.t, it.s, it.t1, it.s1])),
    most: ceiling(rows.flatMap((it) => [it.g, alpha * (it.s - it.t) * Math.max(T, 1 / T)])),
    highest: ceiling(paths.flat()),
    sizes: TEMPERATURES.map((at) => norm(pull(softmax(teacher, at), z, at))), size: norm(own),
    far: norm(far), labelSize: norm(labelGradient(z, label)),
  };
}

/** The least of 1, 2, 5, 10, … that none of the numbers exceeds; 1 where all are 0. */
export function ceiling(numbers) {
  const most = Math.max(...numbers.map(Math.abs));
  const power = 10 ** Math.floor(Math.log10(most));
  return most < 1e-300 ? 1 : [1, 2, 5, 10].find((it) => it * power >= most) * power;
}
