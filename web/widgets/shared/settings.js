// What a reader has set: kept in step with the host's model, with undo, reset and a link.

/**
 * @param model the host's; of it only get, set and on are taken for granted.
 * @param {Object<string, {start: any, takes: (value: any) => boolean}>} fields each setting's value
 *   at the start, and which values it takes, whoever sends them (shared/controls.js makes such).
 */
export function settings(model, fields, signal, tellAll) {
  const names = Object.keys(fields);
  const pick = (from) => Object.fromEntries(names.map((name) => [name, from(name)]));
  const first = pick((name) => {
    const given = model.get(name);
    return fields[name].takes(given) ? given : fields[name].start;
  });
  let now = first;
  const past = [];
  let gesture = null; // the setting that is being dragged: one drag is one step back

  function take(next, tell = true) {
    const changed = names.filter((name) => !same(next[name], now[name]));
    now = next;
    if (tell) {
      for (const name of changed) model.set(name, now[name]);
      try { model.save_changes(); } catch { /* a page has nobody to tell */ }
    }
    if (changed.length) tellAll(changed);
  }

  /** A change that can be undone. */
  function change(next) {
    gesture = null;
    if (names.some((name) => !same(next[name], now[name]))) past.push(now);
    take(next);
  }

  for (const name of names) {
    onChange(model, name, signal, () => {
      const value = model.get(name);
      if (fields[name].takes(value)) take({ ...now, [name]: value }, false);
    });
  }
  return {
    get: () => now,
    set(name, value) {
      if (gesture === name) take({ ...now, [name]: value });
      else change({ ...now, [name]: value });
      gesture = name;
    },
    /** Several settings at once, as one step that can be undone. */
    assign: (some) => change({ ...now, ...some }),
    settle() { gesture = null; },
    /** Whether it is being dragged, typed or played: more changes will follow. */
    moving: () => gesture,
    undo() {
      gesture = null;
      if (past.length) take(past.pop());
    },
    canUndo: () => past.length > 0,
    reset() {
      change(first);
      tellAll(names); // what is typed and was never taken goes, too
    },
    /** Takes settings from a link's text; says whether it was one for this key. */
    restore(hash, key) {
      const found = new URLSearchParams(hash.slice(1));
      if (found.get("view") !== key) return false;
      change(pick((name) => {
        try {
          const value = JSON.parse(found.get(name) ?? "");
          return fields[name].takes(value) ? value : now[name];
        } catch { return now[name]; }
      }));
      return true;
    },
    hash: (key) =>
      `#${new URLSearchParams([["view", key], ...names.map((it) => [it, json(now[it])])])}`,
    /** The settings as the arguments of a Python call. */
    python: () => names.map((it) => `${it}=${literal(now[it])}`).join(", "),
  };
}

/** Calls back when a host's model has another value, until the signal. */
export function onChange(model, name, signal, callback) {
  const hear = () => { if (!signal.aborted) callback(); };
  model.on(`change:${name}`, hear);
  signal.addEventListener("abort", () => {
    try { model.off(`change:${name}`, hear); } catch { /* `hear` does nothing any more */ }
  });
}

const json = JSON.stringify;
const same = (a, b) => json(a) === json(b);

const LITERALS = { null: "None", true: "True", false: "False" };

/** A value as Python writes it. */
const literal = (value) => (Array.isArray(value) ? `[${value.map(literal).join(", ")}]`
  : LITERALS[json(value)] ?? json(value));
