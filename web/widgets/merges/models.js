// How BPE, WordPiece and a unigram model cut a word, and what they look at on the way.
// Each is (chars) => {tokens: {piece, id, start, end}[], steps}; no id: there is no token for it.

const numbered = (tokens) => new Map(tokens.map((token, id) => [token, id]));

/** "##e" and "##s" give "##es". */
export const joined = ([left, right], prefix) =>
  left + (right.startsWith(prefix) ? right.slice(prefix.length) : right);

/** A part of a word as a piece: with what stands before all but the first, and after the last. */
const spelled = ({ prefix, suffix }, chars, start, end) =>
  (start ? prefix : "") + chars.slice(start, end).join("") + (end === chars.length ? suffix : "");

/** Redo the merges, first learned first. Steps: {symbols, rank, place}, place made by merge rank. */
export function bpe(facts) {
  const { tokens, merges, prefix, unknown } = facts;
  const ids = numbered(tokens);
  const key = (left, right) => left * tokens.length + right;
  const table = new Map(merges.map((pair, rank) =>
    [key(...pair.map((it) => ids.get(it))), { rank, id: ids.get(joined(pair, prefix)) }]));

  return (chars) => {
    let symbols = chars.map((_, start) => ({
      id: ids.get(spelled(facts, chars, start, start + 1)) ?? unknown ?? undefined, start, end: start + 1,
    }));
    const steps = [{ symbols }];
    for (;;) {
      let best, place;
      for (let i = 1; i < symbols.length; i++) {
        const found = table.get(key(symbols[i - 1].id, symbols[i].id));
        if (found && !(best?.rank <= found.rank)) [best, place] = [found, i - 1];
      }
      if (!best) break;
      const { start } = symbols[place], { end } = symbols[place + 1];
      symbols = [...symbols];
      symbols.splice(place, 2, { id: best.id, start, end });
      steps.push({ symbols, rank: best.rank, place });
    }
    return { tokens: symbols.map((it) => ({ ...it, piece: tokens[it.id] ?? chars[it.start] })), steps };
  };
}

/**
 * From left to right, always the longest piece that is known. Steps: {piece, start, end, found}. Where
 * there is none, WordPiece gives up the whole word; with a set `made`, which has all pieces of more than
 * a character, it goes on behind the character.
 */
export function longest(facts, made) {
  const { tokens: known, most } = facts;
  const ids = numbered(known), unknown = facts.unknown ?? undefined;
  return (chars) => {
    const steps = [], last = chars.length;
    let tokens = [], start = 0, found = last <= (most ?? last);
    while (start < last && found) {
      let end = last + 1;
      for (found = false; !found && --end > start;) {
        const piece = spelled(facts, chars, start, end), id = ids.get(piece);
        found = id !== undefined && (!made || end === start + 1 || made.has(piece));
        steps.push({ piece, start, end, found });
        if (found) tokens.push({ piece, id, start, end });
      }
      if (made && !found) {
        found = true;
        tokens.push({ piece: known[unknown] ?? chars[start], id: unknown, start, end: ++end });
      }
      start = end;
    }
    if (!found) tokens = [{ piece: known[unknown] ?? chars.join(""), id: unknown, start: 0, end: last }];
    return { steps, tokens };
  };
}

/** BPE's pieces, those that it makes itself, longest first. */
export const greedy = (facts) => longest(facts, new Set(facts.merges.map((pair) => joined(pair, facts.prefix))));

/**
 * The most probable pieces, by Viterbi's algorithm. `steps` are the lattice's nodes {start, end,
 * score, lost}, `best` the two best paths {score, nodes}.
 */
export function unigram({ tokens, scores, unknown }) {
  const ids = numbered(tokens);
  const reach = Math.max(...tokens.map((it) => it.length));
  const worst = Math.min(...scores) - 10;

  return (chars) => {
    const part = (start, end) => chars.slice(start, end).join("");
    const table = [[{ score: 0, nodes: [] }]], steps = [];
    for (let end = 1; end <= chars.length; end++) {
      const paths = [];
      for (let start = Math.max(0, end - reach); start < end; start++) {
        const id = ids.get(part(start, end));
        const lost = id === undefined;
        if (lost && (end - start > 1 || unknown === null)) continue;
        const node = { start, end, score: lost ? worst : scores[id], lost };
        steps.push(node);
        for (const { score, nodes } of table[start]) paths.push({ score: score + node.score, nodes: [...nodes, node] });
      }
      table.push(paths.sort((a, b) => b.score - a.score).slice(0, 2));
    }
    const best = table.at(-1);
    const spans = [];
    let wasLost = false;
    for (const { start, end } of best[0]?.nodes ?? [{ start: 0, end: chars.length }]) {
      const lost = (ids.get(part(start, end)) ?? unknown) === unknown;
      if (lost && wasLost) spans.at(-1)[1] = end; // unknown neighbors are one token
      else spans.push([start, end]);
      wasLost = lost;
    }
    return { steps, best, tokens: spans.map(([start, end]) => {
      const piece = part(start, end);
      return { piece, id: ids.get(piece) ?? unknown ?? undefined, start, end };
    }) };
  };
}
