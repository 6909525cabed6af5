// Family: models by date, from whom each descends, and their scores.

import { checkbox, range, select } from "./shared/controls.js";
import { h, times } from "./shared/dom.js";
import { walk } from "./shared/walk.js";
import { widget } from "./shared/widget.js";
import { overtaken, prepare, reached, shownModels, shownResults } from "./family/maths.js";
import { scores, tree } from "./family/picture.js";
import { about, dated, known, lineage, listed, plain, rough, scored } from "./family/words.js";

const NEAR = 22; // pixels from the pointer to a point

function fields({ models, benchmarks, years: [first, last] }) {
  const isTree = (now) => now.show !== "scores" || !benchmarks.length;
  /** A control that is there only in one view. */
  const only = (field, when) => ({
    ...field,
    make(hear) {
      const { node, show } = field.make(hear);
      return { node, show(value, now) { show(value); node.hidden = !when(now); } };
    },
  });
  const some = models.some((it) => it.chapter) && models.some((it) => !it.chapter);
  const names = Object.fromEntries([["", "none"], ...models.map(({ name }) => [name, plain(name, 40)])]);
  const show = select({ label: "Show", start: "family", choices: { family: "the family tree", scores: "benchmark results" } });
  const pages = select({ label: "Benchmark", start: benchmarks[0] ?? "", choices: Object.fromEntries(benchmarks.map((it) => [it, plain(it, 40)])) });
  const from = range({ label: "From", start: first, positions: times(last - first + 1, (i) => first + i) });
  return {
    show: { ...show, make: benchmarks.length && show.make },
    axis: only(select({ label: "Height", start: "parameters", choices: { parameters: "parameters", architecture: "architecture" } }), isTree),
    every: only(checkbox({ label: "Also those outside the course", start: false }), (now) => some && isTree(now)),
    since: { ...from, make: first < last && from.make },
    selected: select({ label: "Model", start: "", choices: names }),
    benchmark: benchmarks.length ? only(pages, (now) => !isTree(now)) : { start: "", takes: (value) => value === "" },
    split: only(select({ label: "Results", start: "all", choices: { all: "all", test: "test sets", dev: "development sets" } }), (now) => !isTree(now)),
  };
}

const build = ({ data, view, root, tip, say, signal }) => {
  const { models, ids } = data;
  let places = [], isTree = true, byPointer = false;
  const lesson = h("p"), facts = h("div"), panel = h("div", { style: "padding:6px 0" }, lesson, h("details", null, h("summary", null, "Facts and source"), facts));

  const words = (it) => (isTree ? about(it) : scored(it));
  function pin(it) {
    const name = isTree ? it.name : it.model;
    say(words(it));
    if (name) view.set("selected", name);
    view.settle();
  }
  const plane = walk({
    label: "Models",
    describe: words,
    onPoint() {},
    onMove: (it) => say(words(it)),
    onPin(it) { if (!byPointer) pin(it); },
  });
  /** The point under the pointer: the nearest, and in rows also its name. */
  function under({ clientX, clientY }) {
    const box = plane.node.getBoundingClientRect(), by = plane.node.offsetWidth / box.width; // a slide is scaled
    const x = (clientX - box.x) * by, y = (clientY - box.y) * by;
    const away = (it) => Math.hypot(it.box ? Math.max(it.box[0] - x, 0, x - it.box[1]) : x - it.x, y - it.y);
    return places.map((it) => [away(it), it]).filter(([far]) => far < NEAR).sort(([a], [b]) => a - b)[0]?.[1];
  }
  const listen = (type, f) => plane.node.addEventListener(type, f, { signal });
  listen("keydown", () => { byPointer = false; });
  listen("pointerdown", () => { byPointer = true; });
  listen("pointermove", (event) => {
    const it = under(event);
    tip.hide();
    if (it) tip.show(words(it), it.x, it.y - 6, it.y + 8);
  });
  listen("pointerleave", () => tip.hide());
  listen("click", (event) => {
    const it = under(event);
    if (it) pin(it);
  });

  /** What is known of the selected model, with a link to its chapter. */
  function tell(it) {
    panel.hidden = !it;
    if (!it) return;
    const isPage = root.ownerDocument.defaultView.location.pathname.endsWith(".html");
    const href = isPage ? `${it.link.replace(/.*\/(\d+-)?/, "")}.html` : `${it.link}.ipynb`, chapter = `Chapter ${plain(it.chapter)}`;
    lesson.replaceChildren("In the course: ", !it.chapter ? "named only"
      : it.link ? h("a", { href, target: isPage ? null : "_blank", style: "color:var(--accent)" }, chapter) : chapter);
    facts.replaceChildren(...known(data, it).map(([label, text]) => h("p", null, h("span", { class: "lm-soft" }, `${label}: `), text)));
  }

  return {
    over: [plane.node],
    below: [panel],
    table() {
      const now = view.get();
      if (!isTree) {
        const { list, people } = shownResults(data, now);
        return {
          caption: plain(now.benchmark),
          head: ["Model", "System", "Date", "Score", "Set", "Kind", "Source"],
          rows: [...list, ...people].map((it) => [plain(it.model, 40) || "–", plain(it.system, 60), dated(it.when), it.value, it.split, it.kind,
            plain(it.facts.find(([label]) => label === "source")?.[1])]),
        };
      }
      return {
        caption: "Models by date",
        head: ["Model", "Date", "From", "What changed", "Published", "Counted", "Chapter"],
        rows: shownModels(data, now).map((it) => [plain(it.name, 40), dated(it.when), listed(it.parents.map((at) => plain(models[at].name, 40))), plain(it.changes),
          it.published ? rough(it.published) : "–", it.counted?.toLocaleString("en") ?? "–", plain(it.chapter) || "–"]),
      };
    },
    draw(now, _, width) {
      tip.hide();
      isTree = now.show !== "scores" || !data.benchmarks.length;
      const at = ids.get(now.selected), list = isTree ? shownModels(data, now) : shownResults(data, now);
      const picture = isTree ? tree(data, now, width, list, at, reached(models, at, "parents"), reached(models, at, "born"))
        : scores(data, now, width, list, at);
      places = picture.rows.flat();
      plane.place(picture.rows.map((row) => row.map((it) => ({ ...it, x: it.x - 11, y: it.y - 11, width: 22, height: 22 }))), picture.height);
      tell(models[at]);
      const first = !isTree && overtaken(list), unsized = isTree && list.filter((it) => !it.amount).length;
      const caption = isTree
        ? at === undefined ? `${list.length} models${now.axis === "parameters" && unsized ? `; those in the lowest row (?), ${unsized}, state no number of parameters` : ""}. Filled marks are in the course.`
          : lineage(data, at)
        : first ? `The first test result above human performance here: ${plain(first.model || first.system, 60)}, ${first.value}, ${dated(first.when)}.`
          : "No test result here is above human performance.";
      const alt = isTree
        ? `A family tree of ${list.length} models since ${now.since}, by ${now.axis}. ${at === undefined ? "" : `Selected: ${about(models[at])}. `}${lineage(data, at)} ` +
          (at === undefined ? "" : `Ancestors: ${listed(reached(models, at, "parents").map((it) => plain(models[it].name, 40))) || "none"}. Children: ${listed(models[at].born.map((it) => plain(models[it].name, 40)), 20) || "none"}.`)
        : `${list.list.length} results on ${plain(now.benchmark)} since ${now.since}, ${now.split === "all" ? "test and development sets" : `${now.split} sets`}. ` +
          `${list.people.map((it) => `Human: ${it.value}. `).join("")}${caption} Results: ${list.list.map((it) => `${plain(it.model || it.system, 40)} ${it.value}`).join(", ") || "none"}.` +
          (at === undefined ? "" : ` Selected: ${plain(now.selected, 40)}.`);
      return { height: picture.height, caption, alt, still: picture.marks };
    },
  };
};

export default widget({
  name: "family",
  label: "Family of models",
  title: "Who descends from whom?",
  intro: "Click a model, or choose one: its lineage and what it changed are shown.",
  call: "Family(models, results, ",
  read: prepare,
  fields,
  build,
});
