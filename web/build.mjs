// Bundles everything that a browser runs. What comes out is committed, so that neither the course
// nor its book needs npm; `--check` builds in memory and says which committed file is out of date.
//
//   widgets/<name>.js  ->  ../lmcourse/widgets/static/<name>.js   one ES module a widget
//   widgets/attention_heads/attention_pictures.js  ->  …/attention_pictures.js  a script that Python puts before its module
//   vendor/bertviz.js  ->  ../lmcourse/widgets/vendor/bertviz.js  what bertviz's pages load
//   book/book.js       ->  ../theme/public/book.js                the pages' script
//   book/search.js     ->  ../theme/public/search.js              loaded when a reader searches
//   book/deck.js       ->  ../theme/slides/deck.js                reveal.js and the deck's own script
//   katex, reveal.js   ->  ../theme/public/katex, ../theme/slides their style sheets and fonts

import { build, transform } from "esbuild";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const modules = join(here, "node_modules");

/** The files that a folder of the checkout must hold, by path: nothing else may lie there. */
const OWNED = ["lmcourse/widgets/static", "lmcourse/widgets/vendor", "theme/public/katex"];

/**
 * Properties that bundles rename to a letter or two, to stay within their 25 kB: names of objects of
 * ours alone, which no element, no model of a host, no trait and nothing that Python packs has. Quoted
 * names stay. A wrong one breaks the widget's tests in every host.
 */
const RENAMED = words(`
  above alt below build canUndo caption choices columns controls describe draw fields go hide intro last look
  make moving node onInput onMove onPin onPoint onSettle over python read restore rows say settle
  start still table takes under update view`);

const ATTENTION = words(`
    show among anew aside attention axes call canvases cell change channels cut deep difference dot drawn end entropy fan found heads heat here high
    inside inSvg label labels lanes layers legend many maps mine name names notes now other overview own paint part
    partial partner parts pitch place point positions power quotes refresh reset right room root
    row same says score second share side signed size small source strips sum svg tall tokens two tip title undo
    unit weights wide all cells count counts`);

/** Further ones of the widgets that need them: elsewhere some of these are traits or elements'. */
const RENAMED_IN = {
  anatomy: words(`
    assign call cells inSvg merged name now opens paint pick place positions refresh reset result root say
    selected terms tip undo`),
  attention_heads: ATTENTION,
  family: words(`
    amount benchmarks box call end head ids kinds label list marks mine most people place places positions
    refresh reset right root svg tip title undo when words years`),
  gates: words(`
    again assign bars boxes call clipped end ends follows gates given head held inSvg kept label labels lanes
    level maps name names now numbers order orders others pace paint panels pause place positions rank
    refresh reset root row run saturation seen shown state stored strips sum sums svg time tip title
    tokens undo units was wide words`),
  gradient_flow: words(`
    show again backs beside cells chart cut drive earlier factor flows full high inputProducts kind label
    labels legend network norms panels parameters place positions readOut root scale stateProducts strip
    time title whole call head name pause refresh reset undo`),
  graph: words(`
    across lane show again agrees all args back before call depth difference done edges end error far free gap grad
    gradient head inSvg known label level list lost middle name needs nodes now number op out pass pause pin
    place positions product pushes refresh reset result root shown slope slopes slot svg tip trouble undo
    users variables waits ways wide wrong`),
  map: words(`
    about alone asked both call cosine drawn end head inSvg label labels marks more moved name number onMap own pause place
    points positions press rank refresh reset root said scale shown svg target tip undo unit whole wide`),
  masking: words(`
    answers call cells chosen count counts draws eligible actions head kernel label live mask most name
    named now onAnswer own pause place positions readers refresh reset root rule show substitutes
    strip svg tiles tip tokens undo why words wrong`),
  merges: words(`
    all best boxes bricks call came cell chars chunk chunks count cut cutter dashed end facts found
    head high label lanes least lost main marks merged name nodes now over pair parts pause piece
    place positions rank refresh reset right room root row said share states strong svg symbols tip
    title to token tool undo what whole`),
  segmentation: words(`
    all best boxes bricks call came cell chars chunk chunks count cut cutter dashed end facts found
    head high label lanes least lost main marks merged name nodes now over pair parts pause piece
    place positions rank refresh reset right room root row said share states strong svg symbols tip
    title to token tool undo what whole`),
  temperature: words(`
    best call charts count curves facts far first half head highest label labelSize lines long
    most name names paths pause place positions refresh reset root sizes students svg tall teachers reads
    ticks tip title undo wide zero`),
  visibility: words(`
    before boxes call cell codes count end first head label lane lanes letters live most name now pairs
    place positions refresh reset root rule show sum svg tip tokens undo typed weighed weights wrong`),
};

/** Scripts that Python puts before a widget's module, which has their exports by this name: with the same renaming. */
const SCRIPTS = { "attention_heads.js": ["attention_heads/attention_pictures.js", "attentionPictures"] };

function words(text) {
  return text.trim().split(/\s+/);
}

/** @param {string} name a widget's. */
const renaming = (name) =>
  ({ mangleProps: new RegExp(`^(${[...RENAMED, ...(RENAMED_IN[name] ?? [])].join("|")})$`) });

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    write: false,
    charset: "utf8",
    target: "es2022",
    legalComments: "inline",
    ...options,
  });
  Object.assign(options.mangleCache ?? {}, result.mangleCache);
  return result.outputFiles[0].contents;
}

/** Others' libraries as one script, under the licenses of all whose code is in it. */
async function vendored(entry) {
  const options = { absWorkingDir: here, bundle: true, write: false, metafile: true };
  const { metafile } = await build({ entryPoints: [join(here, entry)], ...options });
  const [{ inputs }] = Object.values(metafile.outputs);
  const packages = Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0)
    .map((path) => path.match(/node_modules\/([^/]+)/)?.[1]).filter(Boolean);
  const licenses = [...new Set(packages)].sort().map((name) => {
    const file = readdirSync(join(modules, name)).find((it) => /^LICENSE/i.test(it));
    return `${name}\n\n${readFileSync(join(modules, name, file), "utf8").trim()}`;
  });
  const banner = { js: `/*!\n${licenses.join("\n\n").replaceAll("*/", "* /")}\n*/` };
  return bundle(entry, { format: "iife", minify: true, legalComments: "none", banner });
}

/** A style sheet that a module imports: its text, minified. */
const styles = {
  name: "styles",
  setup: (it) => it.onLoad({ filter: /\.css$/ }, async ({ path }) => {
    const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
    return { contents: code.trim(), loader: "text" };
  }),
};

/** Of a widget whose name starts so, functions become arrows, which take fewer letters, style variables have one, and
 *  marks that it lacks have no style. */
const SHORTER = /^a/; // AttentionHeads, Anatomy
const arrows = {
  name: "arrows",
  setup: (it) => it.onLoad({ filter: /widgets[/\\].*\.js$/ }, ({ path }) => ({
    // A function outside of others, from its first line to the brace alone on its last.
    contents: readFileSync(path, "utf8").replace(/^(export )?(async )?function (\w+)(\(.*\)) (\{\n[^]*?\n\})$/gm,
      (_, exported = "", async = "", name, parameters, body) => `${exported}const ${name} = ${async}${parameters} => ${body};`),
  })),
};

/** Every output, as [path from the root, bytes]. */
async function outputs() {
  const out = [];
  const widgets = existsSync(join(here, "widgets"))
    ? readdirSync(join(here, "widgets")).filter((name) => name.endsWith(".js")).sort()
    : [];
  for (const name of widgets) {
    const shorter = SHORTER.test(name), plugins = shorter ? [styles, arrows] : [styles], mangleCache = {};
    const module = async (entry, more) => {
      const options = { format: "esm", minify: true, plugins, mangleCache, ...more, ...renaming(name.replace(".js", "")) };
      const text = new TextDecoder().decode(await bundle(`widgets/${entry}`, options))
        .replace(/--(?=(?:accent|field|line|soft|ink|bg)\b)(\w)\w*/g, "--$1"); // the colors' names
      return Buffer.from(shorter ? text.replace(/\.(letter|axis|none)\{[^}]*\}/g, "") : text);
    };
    out.push([`lmcourse/widgets/static/${name}`, await module(name)]);
    const [entry, globalName] = SCRIPTS[name] ?? [];
    if (entry) out.push([`lmcourse/widgets/static/${basename(entry)}`, await module(entry, { format: "iife", globalName })]);
  }
  out.push(["lmcourse/widgets/vendor/bertviz.js", await vendored("vendor/bertviz.js")]);
  for (const [entry, target] of [
    ["book/book.js", "theme/public/book.js"],
    ["book/search.js", "theme/public/search.js"],
    ["book/deck.js", "theme/slides/deck.js"],
  ]) {
    if (!existsSync(join(here, entry))) continue;
    out.push([target, await bundle(entry, { format: "iife", minify: true })]);
  }
  out.push(...katex(), ...reveal());
  return out;
}

/** KaTeX's style sheet and its woff2 fonts; every browser since 2018 reads these. */
function katex() {
  const dist = join(modules, "katex/dist");
  const css = readFileSync(join(dist, "katex.min.css"), "utf8")
    .replace(/,url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)/g, "");
  const fonts = readdirSync(join(dist, "fonts")).filter((name) => name.endsWith(".woff2")).sort();
  return [
    ["theme/public/katex/katex.css", Buffer.from(css)],
    ...fonts.map((name) => [
      `theme/public/katex/fonts/${basename(name)}`,
      readFileSync(join(dist, "fonts", name)),
    ]),
  ];
}

/** reveal.js's own style sheets: its layout and its white theme, whose font is the system's. */
function reveal() {
  const dist = join(modules, "reveal.js/dist");
  return [["theme/slides/reveal.css", readFileSync(join(dist, "reveal.css"))]];
}

const produced = await outputs();
const expected = new Set(produced.map(([path]) => path));
const present = OWNED.flatMap((folder) => files(join(root, folder)));
const stray = present.filter((path) => !expected.has(path));
if (process.argv.includes("--check")) {
  const stale = produced
    .filter(([path, bytes]) => !same(join(root, path), bytes))
    .map(([path]) => path);
  for (const path of stale) console.error(`${path} is not what its source gives.`);
  for (const path of stray) console.error(`${path} has no source.`);
  if (stale.length || stray.length) {
    console.error("Run `make web` and commit what it writes.");
    process.exit(1);
  }
  console.log(`${produced.length} bundled files are what their sources give.`);
} else {
  for (const path of stray) rmSync(join(root, path));
  for (const [path, bytes] of produced) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (!same(join(root, path), bytes)) writeFileSync(join(root, path), bytes);
    console.log(`${path}  ${(bytes.length / 1000).toFixed(1)} kB`);
  }
}

function same(path, bytes) {
  return existsSync(path) && Buffer.compare(readFileSync(path), Buffer.from(bytes)) === 0;
}

function files(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"));
}
