// Time, step by step: back, on, and play until the end. Where in time one is, is a setting.

import { button } from "./controls.js";
import { h, set } from "./dom.js";

/**
 * The button that plays: a step each `every` milliseconds, all of them one step for undo. It ends at
 * the last step, and when anything else moves the setting.
 *
 * @param {{view, now: () => number, go: (to: number) => void, last: () => number,
 *   signal: AbortSignal, every?: number, again?: string}} options steps count from 0 to `last()`;
 *   `again` is what stands on it at the last one.
 */
export function playing({ view, now, go, last, signal, every = 700, again = "Play again" }) {
  let clock = null, at = null;

  function move(to) {
    at = to;
    go(to);
  }

  function pause() {
    clearInterval(clock);
    clock = null;
    view.settle();
    update();
  }

  function toggle() {
    if (clock) return pause();
    view.settle();
    move(now() >= last() ? 0 : now() + 1);
    clock = setInterval(() => {
      // At once at the last: its picture is said aloud, those before are not.
      if (at !== now() || at >= last() || (move(at + 1), at >= last())) pause();
    }, every);
    update();
  }

  const node = button("Play", toggle);
  function update() {
    node.textContent = clock ? "Pause" : now() >= last() ? again : "Play";
  }
  signal.addEventListener("abort", () => clearInterval(clock));
  return { node, update, pause };
}

/**
 * @param {{view, name: string, last: () => number, signal: AbortSignal, every?: number}} options
 *   `name` is the setting that counts from 0 to `last()`; the rest as for `playing`.
 * @returns {{node: HTMLElement, update: () => void, pause: () => void}} `update` after each drawing.
 */
export function player({ view, name, last, ...options }) {
  const now = () => Math.min(view.get()[name], last()); // other data may have fewer steps
  const go = (to) => view.set(name, Math.min(Math.max(to, 0), last()));
  const play = playing({ view, now, go, last, ...options });

  function step(by) {
    play.pause();
    go(now() + by);
    view.settle();
  }

  const back = button("◀ Step back", () => step(-1));
  const on = button("Step ▶", () => step(1));
  function update() {
    play.update();
    set(back, { "aria-disabled": now() <= 0 });
    set(on, { "aria-disabled": now() >= last() });
  }
  return { node: h("div", { class: "lm-buttons" }, back, play.node, on), update, pause: play.pause };
}
