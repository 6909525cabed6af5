// Map: word vectors in a plane, and what is near in the full width.

import { button, checkbox, select, TEXT } from "./shared/controls.js";
import { h, set, times } from "./shared/dom.js";
import { quoted, visible } from "./shared/tokens.js";
import { walk } from "./shared/walk.js";
import { widget } from "./shared/widget.js";
import { away, cosines, largest, offset, planeOf, prepare } from "./map/maths.js";
import { layout, picture, scales } from "./map/picture.js";

const NEAR = 10, FAR = 64; // words in the list; the largest zoom
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const isNumber = (low, high) => (it) => Number.isFinite(it) && it >= low && it <= high;

function fields({ words, ids, title }) {
  const knows = (it) => ids.has(it);
  const isList = (value, count, test) => Array.isArray(value) && value.length === count && value.every(test);
  const asking = checkbox({ label: "Query words may be the answer", start: false });
  return {
    show: select({ label: "Show", start: "neighbors", choices: { neighbors: "nearest words", analogy: "an analogy" } }),
    query: { start: words[0], takes: knows },
    analogy: { start: times(3, (i) => words[i] ?? words[0]), takes: (value) => isList(value, 3, knows) },
    plane: select({ label: "Plane", start: "all", choices: { all: "of all words", chosen: "of these alone" } }),
    with_queries: {
      ...asking,
      make(hear) {
        const { node, show } = asking.make(hear);
        return { node, show(value, now) { show(value); node.hidden = now.show !== "analogy"; } };
      },
    },
    center: { start: null, takes: (value) => value === null || isList(value, 2, isNumber(-2, 2)) },
    zoom: { start: 1, takes: isNumber(1, FAR) },
    title: { start: title, takes: (value) => value === title }, // for the Python call
  };
}

/** Everything that the settings ask for, but for the window. */
function measure(data, { show, query, analogy, plane, with_queries: allowed }) {
  const { words, ids, unit, names, groups } = data, isAnalogy = show === "analogy";
  const asked = (isAnalogy ? analogy : [query]).map((it) => ids.get(it));
  const near = cosines(data, isAnalogy ? offset(unit, asked) : unit[asked[0]]);
  const best = largest(near, isAnalogy && allowed ? [] : asked, NEAR);
  const chosen = [...new Set([...asked, ...best.slice(0, isAnalogy ? 1 : NEAR)])];
  const alone = plane === "chosen", { points, share } = alone ? planeOf(data, chosen) : data.plane;
  const shown = alone ? chosen : [...words.keys()], at = (i) => points[shown.indexOf(i)];
  const target = isAnalogy && offset(points, asked.map((i) => shown.indexOf(i)));
  const from = target || at(asked[0]), distances = points.map((it) => away(it, from));
  const others = largest(distances.map((it) => -it), asked.map((i) => shown.indexOf(i))).map((at) => shown[at]);
  const row = (i) => ({
    i, cosine: near[i], own: asked.includes(i), rank: others.indexOf(i) + 1, group: names[groups[i] - 1] ?? "",
  });
  const name = (i) => quoted(words[i], 14), number = (i) => near[i].toFixed(2);
  const whole = isAnalogy ? [asked[1], asked[0], asked[2]].map(name).map((it, i) => ["", " − ", " + "][i] + it).join("") : name(asked[0]);
  const [without] = largest(near, asked, 1), [any] = largest(near, [], 1);
  const onMap = others.slice(0, NEAR), both = onMap.filter((i) => best.includes(i)).length;
  const word = (i) => `${name(i)} (${number(i)})`;
  const answer = without === undefined ? "There is no other word." : `Nearest to b − a + c: ${word(without)}` +
    (any === without ? ", whether the query words are excluded or not." : ` if the query words are excluded; if not, ${word(any)}, one of them.`);
  const honest = !others.length ? "There is no other word." : `Nearest on the map: ${name(others[0])}, cosine ${number(others[0])}. ` +
    (alone ? `This plane has ${percent(share)} of the variance of these words.`
      : `Of the ${onMap.length} words nearest on the map, ${both || "none"} ${both === 1 ? "is" : "are"} in the list by cosine.`);
  return {
    asked, points, shown, target, others, name, number, whole, row,
    rows: best.map(row),
    head: `Nearest to ${isAnalogy ? "b − a + c" : name(asked[0])}`,
    about: `PCA of ${alone ? "these " : ""}${shown.length.toLocaleString("en")} words: ${percent(share)} of the variance`,
    said: isAnalogy ? answer : honest,
    more: isAnalogy ? `${asked.map(name).join(" : ").replace(/ : (?=[^:]*$)/, " :: ")} : ?` : "",
  };
}

const build = ({ data, view, root, tip, say, signal }) => {
  const { words, ids } = data, id = `map${Math.random().toString(36).slice(2)}`;
  let found, size, scale, drawn, slot = 2, press = null, byPointer = false;

  /** Takes a word where one is asked for; the window follows it. */
  function choose(word, at) {
    const now = view.get();
    if (now.show !== "analogy") view.set("query", word);
    else view.set("analogy", now.analogy.map((it, i) => (i === at ? word : it)));
  }

  /** A field that completes words. @param {number | null} at which word of the analogy, or the query. */
  function field(name, at) {
    const options = h("datalist", { id: `${id}${name}` });
    const starting = (text) => (text ? words.filter((it) => it.startsWith(text)).slice(0, 12) : words.slice(0, 12));
    const input = h("input", {
      type: "text", style: TEXT, dir: "auto", spellcheck: "false", autocomplete: "off", autocapitalize: "off", list: options.id,
      onfocus: () => { slot = at ?? slot; },
      onclick: () => input.select(), // what is typed next replaces it
      oninput() {
        const text = input.value;
        options.replaceChildren(...starting(text).map((value) => h("option", { value })));
        if (ids.has(text)) choose(text, at);
      },
      onchange() {
        const text = input.value, word = [text, text.toLowerCase(), starting(text)[0]].find((it) => ids.has(it));
        if (word === undefined) say(`${quoted(text)} is not on the map.`);
        else choose(word, at);
        view.settle();
        show(view.get());
      },
    });
    const node = h("div", { class: "lm-field", style: `flex:1 1 ${at === null ? 140 : 70}px` }, h("label", null, name, input), options);
    const show = (now) => {
      node.hidden = (at === null) === (now.show === "analogy");
      const word = at === null ? now.query : now.analogy[at];
      if (input.value !== word) input.value = word;
    };
    return { node, show };
  }
  const inputs = [field("Word", null), ...["a", "b", "c"].map(field)];

  const about = (i) => `${visible(words[i])}, cosine to ${found.whole} ${found.number(i)}${found.row(i).group && `, ${found.row(i).group}`}`;
  /** Zooms around a point of the plane: by default, what is asked about stays where it is. */
  function zoomBy(factor, around) {
    const at = drawn.places[found.asked.at(-1)], [x, y] = around ?? (at ? scale.back(...at) : scale.center);
    const { zoom } = view.get(), [u, v] = scale.center, next = Math.min(Math.max(zoom * factor, 1), FAR), share = zoom / next;
    view.assign(next === 1 ? { zoom: 1, center: null } : { zoom: next, center: kept([x + (u - x) * share, y + (v - y) * share]) });
  }
  const kept = (center) => center.map((it) => Math.min(Math.max(Math.round(it * 1e4) / 1e4, -2), 2));
  const farther = button("−", () => zoomBy(0.5)), nearer = button("+", () => zoomBy(2));
  set(farther, { "aria-label": "Zoom out" });
  set(nearer, { "aria-label": "Zoom in" });

  /** The word under the pointer, and where the pointer is in the stage. */
  function under({ clientX, clientY }) {
    const box = plane.node.getBoundingClientRect(), by = plane.node.offsetWidth / box.width; // a slide is scaled
    const at = [(clientX - box.x) * by, (clientY - box.y) * by];
    let best, least = 16;
    for (const [i, it] of Object.entries(drawn.places)) if (away(it, at) < least) [best, least] = [+i, away(it, at)];
    return { at, i: best };
  }
  const pick = (i) => { choose(words[i], slot); view.settle(); };
  const plane = walk({
    label: "Map",
    describe: ({ i }) => about(i),
    onPoint() {},
    onMove: ({ i }) => say(about(i)),
    onPin({ i }) { if (!byPointer) pick(i); },
  });
  const listen = (type, f) => plane.node.addEventListener(type, f, { signal, passive: false });
  listen("keydown", ({ key }) => {
    byPointer = false;
    if (key === "+" || key === "-") zoomBy(key === "+" ? 2 : 0.5);
  });
  listen("pointerdown", (event) => {
    byPointer = true;
    press = { ...under(event), center: scale.center };
  });
  listen("pointermove", (event) => {
    const { at: [x, y], i } = under(event);
    tip.hide();
    if (press && event.buttons && (press.moved ||= away(press.at, [x, y]) > 5)) {
      plane.node.setPointerCapture(event.pointerId);
      const [[u, v], [p, q]] = [scale.back(...press.at), scale.back(x, y)];
      const [a, b] = scale.center;
      press.at = [x, y];
      view.set("center", kept([a + u - p, b + v - q]));
    } else if (i !== undefined) tip.show(about(i), x, y);
  });
  listen("pointerup", (event) => {
    const { i } = under(event);
    if (press?.moved) view.settle();
    else if (press && i !== undefined) pick(i);
    press = null;
  });
  listen("pointercancel", () => { press = null; });
  listen("pointerleave", () => tip.hide());
  listen("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    zoomBy(2 ** (-event.deltaY / 200), scale.back(...under(event).at));
  });

  const line = ({ i, rank }) => `${about(i)}${rank ? `, number ${rank} on the map` : ""}`;
  const list = walk({
    label: "Nearest words",
    describe: line,
    onPoint() {},
    onMove: (it) => say(line(it)),
    onPin: ({ i }) => pick(i),
  });
  return {
    above: [h("div", { class: "lm-buttons", style: "align-items:end" }, inputs.map(({ node }) => node), farther, nearer)],
    over: [plane.node, list.node],
    table: () => ({
      caption: `${found.head}, by cosine`,
      head: ["Word", "Cosine", "Rank on the map", ...(data.names[0] ? ["Group"] : [])],
      rows: found.rows.map(({ i, cosine, rank, group }) => [visible(words[i]), cosine.toFixed(3), rank || "–", ...(data.names[0] ? [visible(group)] : [])]),
    }),
    draw(now, changed, width) {
      tip.hide();
      root.querySelector(".lm-title").textContent = data.title;
      if (!found || changed.some((it) => it !== "center" && it !== "zoom")) found = measure(data, now);
      size = layout(width, found, data);
      scale = scales(size, found.points, now);
      drawn = picture(size, data, found, scale, id);
      for (const it of inputs) it.show(now);
      const { map, list: at } = size;
      plane.place([drawn.labels.map(({ i, x, y }) => ({ i, x: x - 9, y: y - 9, width: 18, height: 18 }))], map.y + map.height);
      Object.assign(plane.node.style, { right: `${width - map.width}px`, touchAction: now.zoom > 1 ? "none" : "pan-y" });
      const rows = found.rows.map((it, row) => [{ ...it, x: 0, y: 27 * row, width: at.width, height: 24 }]);
      list.place(rows[0] ? rows : [[]], 27 * rows.length);
      Object.assign(list.node.style, { left: `${at.x}px`, top: `${at.y}px` });
      set(farther, { "aria-disabled": now.zoom <= 1 });
      set(nearer, { "aria-disabled": now.zoom >= FAR });
      return {
        height: size.height, caption: found.said, still: drawn.marks,
        alt: `A map of ${found.shown.length} words. ${found.about}. ${found.more && `${found.more} `}${found.said} ${found.head} by cosine: ` +
          (found.rows.map(({ i }) => `${found.name(i)} ${found.number(i)}`).join(", ") || "none"),
      };
    },
  };
};

export default widget({
  name: "map",
  label: "Map of word vectors",
  title: null,
  intro: "Click a word, or type one: its nearest words are listed by cosine. Are they also near on the map?",
  call: "Map(words, vectors, groups=groups, ",
  read: prepare,
  fields,
  build,
});
