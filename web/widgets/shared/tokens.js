// Tokens as a reader sees them: always as text, and what has no ink gets a mark. The same rule
// stands in lmcourse/widgets/tokens.py, and a test holds the two together.

const NAMED = { " ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽", "": "∅" };
/** Controls, formats (joiners, directions, the byte order mark), halves of characters, separators, and what
 *  no font draws. */
const UNSEEN = /[\p{C}\p{Z}\u115f\u1160\u3164\uffa0\u034f]/gu;
/** What joins emoji into one stays. */
const JOINED = /(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})/gu;
const KEPT = "\ue000";

/** A token with a mark for each character that cannot be seen: "a\u200bb" is "a⟨200B⟩b". */
export function visible(token) {
  if (token === "") return NAMED[""];
  return token.replaceAll(KEPT, "⟨E000⟩").replace(JOINED, KEPT)
    .replace(UNSEEN, (c) => (c === KEPT ? "\u200d" : NAMED[c] ?? code(c)));
}

const code = (c) => `⟨${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

const pieces = /* @__PURE__ */ new Intl.Segmenter("en", { granularity: "grapheme" });

/** The token as it is seen, of at most so many characters as a reader counts them. */
export function shortened(token, most = 12) {
  const parts = [...pieces.segment(visible(token))].map(({ segment }) => segment);
  return parts.length <= most ? parts.join("") : `${parts.slice(0, most - 1).join("")}…`;
}

/** For sentences and tips: quoted, and apart from the direction of what stands around it. */
export const quoted = (token, most = 30) => `“\u2068${shortened(token, most)}\u2069”`;
