// Starts a widget on a page without a kernel. Its text stands inside the page; PAYLOAD is written
// there as JSON (lmcourse/widgets/page.py).

/**
 * Takes the first element on the page that waits for this widget; equal widgets have equal keys,
 * so any of them will do. Its paragraph stays until the widget has rendered.
 *
 * @param {{key: string, module: string, state: Object}} payload
 */
async function mount({ key, module, state }) {
  const host = document.querySelector(`[data-lmcourse-widget="${key}"]:not([data-started])`);
  if (!host) return;
  host.dataset.started = "";
  // What links to it call it: its name and its place on the page, which outlast its module and its data.
  const [name] = key.split("-"), like = [...document.querySelectorAll(`[data-lmcourse-widget^="${name}-"]`)];
  const link = `${name}-${like.indexOf(host) + 1}`;
  const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  const words = [...host.childNodes];
  const el = host.appendChild(document.createElement("div"));
  try {
    const { default: widget } = await import(url);
    const model = modelOf({ ...state, _key: link });
    await widget.initialize?.({ model });
    await widget.render({ model, el });
    for (const node of words) node.remove();
  } catch (error) {
    el.remove();
    console.error(error);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** A model as anywidget describes it, with nobody at the other end. */
function modelOf(state) {
  const heard = new EventTarget();
  return {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      heard.dispatchEvent(new Event(`change:${name}`));
    },
    on: (name, listener) => heard.addEventListener(name, listener),
    off: (name, listener) => heard.removeEventListener(name, listener),
    save_changes() {},
    send() {},
  };
}

mount(PAYLOAD);
