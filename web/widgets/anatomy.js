// Anatomy: a model drawn from one forward pass, from its layers down to one number.

import { button, whole } from "./shared/controls.js";
import { h, s, set } from "./shared/dom.js";
import { walk } from "./shared/walk.js";
import { widget } from "./shared/widget.js";
import { panel } from "./anatomy/panel.js";
import { picture, rows, STYLE } from "./anatomy/picture.js";
import { alternative, spoken } from "./anatomy/words.js";

const HEAD = ["Output", "Reads", "Parameters"];
const APART = 40, BESIDE = 340, LEAST = 0.75; // of the size of names, 12 pixels
const SMALLEST = 9.2; // pixels of other words
const FADE = "linear-gradient(270deg,#0003,#000 28px)"; // there is more

function read(arrays, model) {
  return model.get("models").map((it, i) => ({ ...it, tokens: it.tokens, values: arrays[`numbers ${i}`].data }));
}

const fields = (models) => {
  const opens = (it) => Number.isInteger(it) && models.some((model) => model.views[it]);
  return {
    inside: { start: -1, takes: opens },
    block: whole(Math.max(...models.map((it) => it.blocks.length)), null),
    model: whole(models.length),
    layer: whole(1000), head: whole(1000), row: whole(1000, null), column: whole(1000, null),
  };
};

/** Which view each model shows: the counterparts of the first one's. */
function shown(models, { model, inside }) {
  const own = models[model].views[inside] ? inside : -1;
  const first = model ? +(Object.entries(models[model].same).find(([, it]) => it === own)?.[0] ?? -1) : own;
  return models.map((it, i) => {
    const found = i === model ? own : i ? it.same[first] : first;
    return it.views[found] ? found : -1;
  });
}

const build = ({ data: models, view, svg, tip, say }) => {
  let now = view.get(), roots = [], place = [];
  /** The blocks that are drawn as boxes, in the order of the pass. */
  const boxes = () => models[now.model].views[roots[now.model]][2].filter(([kind]) => /box|circle/.test(kind))
    .map(([, i]) => i).sort((a, b) => a - b).map((i) => models[now.model].blocks[i]);
  const block = () => models[now.model].blocks[now.block];
  const opens = ({ model, block }) => models[model].views[block] && block !== roots[model];
  const select = (it) => view.assign({ model: it.model, block: it.block, inside: roots[it.model], row: null, column: null });
  const go = (to) => view.assign({ inside: to, block: to < 0 ? null : to, row: null, column: null });

  const cells = walk({
    label: "Blocks",
    describe: (it) => spoken(models[it.model].blocks[it.block], opens(it)),
    onPoint(it) {
      if (!it) return tip.hide();
      const { x, y, height } = it;
      tip.show(spoken(models[it.model].blocks[it.block], opens(it)), x, y, y + height);
    },
    onMove: (it) => say(spoken(models[it.model].blocks[it.block], opens(it))),
    onPin(it) {
      tip.hide();
      if (now.block === it.block && now.model === it.model && opens(it)) go(it.block);
      else select(it);
    },
  });
  const facts = panel({ view, say, open: () => go(now.block), close: () => view.assign({ block: null, row: null, column: null }) });
  const path = h("div", { class: "lm-buttons", role: "navigation", "aria-label": "Where this is in the model" });
  const beside = h("div"), under = h("div");
  const fade = () => {
    const stage = svg.parentNode;
    stage.style.maskImage = stage.scrollLeft + stage.clientWidth < stage.scrollWidth - 1 ? FADE : "";
  };

  /** The whole, and the blocks around the view and its own. */
  function crumbs() {
    const { blocks, title, views } = models[now.model], steps = [];
    for (let i = roots[now.model]; i >= 0; i = blocks[i].parent) if (views[i]) steps.unshift([i, blocks[i].label]);
    steps.unshift([-1, models[1] ? "Models" : title]);
    path.replaceChildren(...steps.map(([to, label], i) => set(button(label, () => go(to)), { "aria-current": i + 1 === steps.length ? "true" : null })));
  }

  return {
    under: [h("style", null, STYLE)],
    above: [path],
    over: [cells.node, beside],
    below: [under],
    table() {
      const { title } = models[now.model];
      return {
        caption: title,
        head: ["Block", ...HEAD],
        rows: boxes().map((it) => [it.named, ...HEAD.map((name) => it.facts.find(([known]) => known === name)?.[1] ?? "")]),
      };
    },
    draw(settings, changed, width) {
      now = settings;
      const model = models[now.model];
      roots = shown(models, now);
      const stage = svg.parentNode, parts = models.map((it, i) => it.views[roots[i]]);
      const head = models.length > 1 ? 22 : 0;
      const natural = parts.reduce((sum, [wide]) => sum + wide + APART, -APART);
      const broad = width >= 700 && natural <= width - BESIDE;
      const across = natural * LEAST <= width || models.length === 1, widest = across ? natural : Math.max(...parts.map(([wide]) => wide));
      const scale = Math.max(LEAST, Math.min(1, width / widest)), tall = Math.max(...parts.map(([, high]) => high));
      let x = across && !broad ? Math.max(0, (width - natural * scale) / 2) : 0, y = 0;
      place = parts.map(([wide, high], i) => {
        const at = [x, y + head + (across ? (tall - high) * scale : 0), scale];
        if (across) x += (wide + APART) * scale;
        else y += high * scale + head + 10;
        return { at, title: head && s("text", { x: at[0] + 8, y: at[1] - 8, class: "times" }, models[i].title) };
      });
      const wide = Math.max(width, widest * scale), selected = block();
      const lines = parts.map(([, , marks], i) => rows(marks, ...place[i].at, i)), all = across ? merged(lines) : lines.flat();
      (broad ? beside : under).append(facts.node);
      under.className = selected && !broad ? "lm-sheet" : ""; // at the end of the window, while the block is seen
      set(beside, { style: `position:absolute;top:0;right:0;width:${width - natural - 24}px;display:${broad ? "block" : "none"}` });
      facts.show({ now, data: model, block: selected, opens: selected && opens(now) });
      const high = across ? tall * scale + head : y;
      const height = Math.max(high, broad && selected ? facts.node.offsetHeight : 0);
      cells.place(all, high);
      cells.node.style.width = `${broad ? natural : wide}px`;
      svg.style.minWidth = `${wide}px`;
      svg.style.setProperty("--small", `${Math.max(10, SMALLEST / scale)}px`);
      stage.style.overflow = wide > width ? "auto hidden" : "";
      stage.onscroll = fade;
      fade();
      crumbs();
      if (under.className && changed.includes("block") && !changed.includes("layer")) { // selected now, above the sheet
        cells.node.querySelector(".lm-cell").scrollIntoView({ block: "nearest", inline: "nearest" });
      }
      const root = model.blocks[roots[now.model]];
      return {
        height, wide,
        alt: alternative({ models, now, root, block: selected, inside: boxes() }),
        still: parts.map(([, , marks], i) => [picture(marks, i === now.model ? now.block : null, ...place[i].at), place[i].title]),
      };
    },
  };
};

/** Rows of several pictures side by side as common rows, by height. */
function merged(pictures) {
  const all = pictures.flat().sort((a, b) => a[0].y - b[0].y), found = [];
  for (const row of all) {
    const last = found.at(-1);
    if (last && row[0].y < last[0].y + last[0].height / 2) last.push(...row);
    else found.push([...row]);
  }
  return found.map((row) => row.sort((a, b) => a.x - b.x));
}

export default widget({
  name: "anatomy",
  label: "Anatomy of a model",
  title: "What is inside?",
  intro: "Select a block to see its equation, code and numbers. Select it again to look inside.",
  call: "Anatomy(*drawings, ",
  read,
  fields,
  build,
});
