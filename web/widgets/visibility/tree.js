// A sentence tree as a line of text, "(tim cook) [ceo apple] is in beijing [capital china]": what
// lmcourse/widgets/sentence_text.py explains, and reads in the same way.

export const MOST_TOKENS = 512;
const PARTS = /\[(?:CLS|SEP|PAD|MASK|UNK)\]|[^\s\x1c-\x1f\x85\ufeff[\]()]+|[[\]()]/g;
const OTHER = { "[": "]", "(": ")" };

/** @returns what the text means, or {wrong}: a sentence that says what is wrong, and what to do. */
export function treeOf(text) {
  const tokens = [], soft = [], branch = [], anchor = [], starts = [0];
  let start = 0, end = 0, inside = "", length = 0;
  const put = (...found) => [tokens, soft, branch, anchor].forEach((it, k) => it.push(found[k]));
  const open = () => ({ wrong: `“${inside}” is not closed. Write “${OTHER[inside]}”.` });
  for (const part of text.match(PARTS) ?? []) {
    if (OTHER[part]) {
      if (inside) return open();
      if (part === "[" && !end) return { wrong: "A branch is at the start. Write its word before it." };
      inside = part;
      length = 0;
      if (part === "[") starts.push(start);
      else start = end;
    } else if (part === "]" || part === ")") {
      if (OTHER[inside] !== part) return { wrong: `“${part}” has no opening bracket. Delete it.` };
      if (!length) return { wrong: `“${inside + part}” is empty. Write a word into it.` };
      inside = "";
    } else if (inside === "[") put(part, end + length++, starts.length - 1, end - 1);
    else {
      if (!inside) start = end;
      length++;
      put(part, end, 0, end++);
    }
  }
  const n = tokens.length;
  if (inside) return open();
  if (!n || n > MOST_TOKENS) return { wrong: `The text has ${n} tokens. Write 1 to ${MOST_TOKENS}.` };
  /** Whether a branch's token meets a word of its entity, which ends where the branch hangs. */
  const own = (i, j) => branch[i] && !branch[j] && anchor[j] >= starts[branch[i]] && anchor[j] <= anchor[i];
  return {
    n, tokens, soft, branch, anchor, real: tokens.map((it) => it !== "[PAD]" && it !== "<pad>"),
    tree: (i, j) => branch[i] === branch[j] || own(i, j) || own(j, i),
  };
}
