// What the picture says, in words.

import { shortened } from "../shared/tokens.js";

/** Text as a reader sees it; spaces stay. */
export const plain = (text, most = 1000) => (text ? shortened(text, most).replaceAll("␣", " ") : "");

const MONTHS = /* @__PURE__ */ new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
export const dated = (month) => MONTHS.format(Date.UTC(Math.floor(month / 12), month % 12));

/** 340 million; 1.54 billion. */
export const rough = (number) => (number >= 1e9 ? `${+(number / 1e9).toPrecision(4)} billion` : `${+(number / 1e6).toPrecision(4)} million`);

export function listed(words, most = 12) {
  const shown = words.length > most ? [...words.slice(0, most), `${words.length - most} more`] : words;
  return [shown.slice(0, -1).join(", "), ...shown.slice(-1)].filter(Boolean).join(" and ");
}

const names = ({ models }, ids, most) => listed(ids.map((at) => plain(models[at].name, 40)), most);

export const sized = ({ published, counted }) => (counted ? `${counted.toLocaleString("en")} parameters, counted`
  : published ? `${rough(published)} parameters, as published` : "number of parameters not stated");

/** A model in one line. */
export const about = (it) => `${plain(it.name, 40)}, ${dated(it.when)}, ${plain(it.architecture, 40)}, ${sized(it)}`;

/** A result in one line. */
export const scored = (it) => [
  [plain(it.model, 40), plain(it.system, 60)].filter(Boolean).join(", "), dated(it.when), `${it.value}`,
  it.kind === "human" ? "human" : `${it.split} set`, it.kind === "ensemble" && "ensemble"].filter(Boolean).join(", ");

export function lineage(data, at) {
  if (at === undefined) return "No model is selected.";
  const it = data.models[at], parents = names(data, it.parents);
  return `${plain(it.name, 40)}, ${parents ? `from ${parents}` : "without a parent here"}: ${plain(it.changes) || "no change is stated"}.`;
}

/** Label and text of what is known of a model. */
export const known = (data, it) => [
  ["First public", dated(it.when)],
  ["Parameters, published", it.published && rough(it.published)],
  ["Parameters, counted", it.counted?.toLocaleString("en")],
  ["Children", names(data, it.born, 30)],
  ...it.facts.map(([label, text]) => [label[0].toUpperCase() + label.slice(1), plain(text)])].filter(([, text]) => text);
