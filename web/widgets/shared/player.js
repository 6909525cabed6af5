// Time, step by step: back, on, and play until the end. Where in time one is, is a setting.

import { button } from "./controls.js";
import { h, set } from "./dom.js";

/**
 * @param {{view, name: string, last: () => number, signal: AbortSignal, every?: number}} options
 *   `name` is the setting that counts from 0 to `last()`; playing takes `every` milliseconds a step,
 *   and is one step for undo. It ends at the last step, and when anything else moves the setting.
 * @returns {{node: HTMLElement, update: () => void, pause: () => void}} `update` after each drawing.
 */
export function player({ view, name, last, signal, every = 700 }) {
  let clock = null, at = null;
  const now = () => view.get()[name];

  function go(to) {
    at = Math.min(Math.max(to, 0), last());
    view.set(name, at);
  }

  function pause() {
    clearInterval(clock);
    clock = null;
    view.settle();
    update();
  }

  function step(by) {
    pause();
    go(now() + by);
    view.settle();
  }

  function toggle() {
    if (clock) return pause();
    view.settle();
    go(now() >= last() ? 0 : now() + 1);
    clock = setInterval(() => (at === now() && at < last() ? go(at + 1) : pause()), every);
    update();
  }

  const back = button("◀ Step back", () => step(-1));
  const play = button("Play", toggle);
  const on = button("Step ▶", () => step(1));
  function update() {
    play.textContent = clock ? "Pause" : now() >= last() ? "Play again" : "Play";
    set(back, { "aria-disabled": now() <= 0 });
    set(on, { "aria-disabled": now() >= last() });
  }
  signal.addEventListener("abort", () => clearInterval(clock));
  return { node: h("div", { class: "lm-buttons" }, back, play, on), update, pause };
}
