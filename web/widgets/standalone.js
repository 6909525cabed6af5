// Starts a widget on a page: one without a kernel, or a notebook in JupyterLab, whose kernel may have the
// widget's model. Its text stands inside the page; PAYLOAD is written there as JSON (lmcourse/widgets/page.py).

/**
 * Takes the first element on the page that waits for this widget; equal widgets have equal keys,
 * so any of them will do. Its paragraph stays until the widget has rendered.
 *
 * @param {{key: string, id: string, module: string, state: Object}} payload `id` is the model's in a kernel, or "".
 */
async function mount({ key, id, module, state }) {
  const host = document.querySelector(`[data-lmcourse-widget="${key}"]:not([data-started])`);
  if (!host) return;
  host.dataset.started = "";
  // What links to it call it: its name and its place on the page, which outlast its module and its data.
  const [name] = key.split("-"), like = [...document.querySelectorAll(`[data-lmcourse-widget^="${name}-"]`)];
  const link = `${name}-${like.indexOf(host) + 1}`;
  const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  let shown = [...host.childNodes], end;
  try {
    const { default: widget } = await import(url);

    /** Renders it anew in place of what is there; if that fails, what is there stays. */
    const render = async (model) => {
      const el = host.appendChild(document.createElement("div"));
      try {
        const stop = await widget.render({ model, el });
        end?.();
        for (const node of shown) node.remove();
        [end, shown] = [stop, [el]];
      } catch (error) {
        el.remove();
        throw error;
      }
    };
    const live = await kernels(id);
    await render(live ?? modelOf({ ...state, _key: link }));
    // A notebook's widget manager comes when its kernel is connected, or with its first widget.
    for (let wait = 100; id && !live && wait < 1e7; wait *= 2) {
      await Promise.race([heard(), new Promise((done) => setTimeout(done, wait))]);
      const found = await kernels(id);
      if (found) {
        await render(found);
        break;
      }
    }
  } catch (error) {
    console.error(error);
  } finally {
    URL.revokeObjectURL(url);
  }
}

const heard = () => new Promise((done) => addEventListener("lmcourse-manager", done, { once: true }));

/** The model of a running kernel, if a widget manager of this page has it (lmcourse/widgets/base.py). */
async function kernels(id) {
  const managers = [...(id ? globalThis.lmcourseManagers ?? [] : [])].reverse(); // the last opened notebook's first
  for (const manager of managers) {
    const model = !manager.isDisposed && manager.has_model(id) && await manager.get_model(id);
    if (model?.comm_live) return model;
  }
}

/** A model as anywidget describes it, with nobody at the other end. */
function modelOf(state) {
  const heard = new EventTarget();
  return {
    widget_manager: document.getElementById("jupyter-config-data"), // in a notebook, whose kernel is gone
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
