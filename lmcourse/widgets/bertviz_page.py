"""bertviz's page as a sandboxed frame that needs no network."""

import html
import json
import re
from pathlib import Path
from typing import Any

from lmcourse.errors import CourseError
from lmcourse.widgets import page

REMEDY = "Run `python -m coursekit.install` in the course's folder."
LIBRARIES = Path(__file__).parent / "vendor" / "bertviz.js"
FRAME = 110  # pixels: margins, a hint of four lines (in a wide font), a scroll bar
# The frame may only run its own scripts. Without a policy, images would be loaded.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"

_PARAMS = "const params = "
_STYLE = """
html { background: #fff; color: #000; color-scheme: light }
body { margin: 0; padding: 8px }
select { height: 28px; font: 14px sans-serif; margin: 0 10px 6px 0 }
@media (max-width: 400px) {
  span, select { font-size: 13px }
  select { margin-right: 0; max-width: 46vw }
}
span { white-space: nowrap }
svg { display: block }
p { margin: 0 0 6px; color: #59636e; font: 14px/20px sans-serif }
"""
# bertviz clips long tokens to a fixed width: here they are drawn narrower. The model view is 970
# pixels wide, and shrinks a little on a narrower page.
_FITTING = """
const vis = document.querySelector("[id=vis]");
for (const it of document.querySelectorAll("select")) {
  it.setAttribute("aria-label", {layer: "Layer", filter: "Attention"}[it.id]);
}
function fit() {
  const svg = vis.querySelector("svg");
  if (!svg) return;
  document.getElementById("words").textContent = HINT;
  for (const text of svg.querySelectorAll("text[dx], text.token")) {
    const room = text.matches(".token") ? 76 : 100;
    if (text.getComputedTextLength() <= room || text.hasAttribute("textLength")) continue;
    text.setAttribute("textLength", room);
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  if (svg.getAttribute("width") === "970") {
    svg.setAttribute("viewBox", `0 0 970 ${svg.getAttribute("height")}`);
    svg.style.cssText = "width:100%;min-width:900px;max-width:970px;height:auto";
  }
}
new MutationObserver(fit).observe(vis, {childList: true, subtree: true});
fit();
"""


class BertViz:
    """A view of bertviz: in a notebook, on a page, in a file, and as text.

    Attributes:
        title: the title of the frame.
        alt: a description of the view.
        height: the height of the frame in CSS pixels.
    """

    def __init__(self, document: str, title: str, alt: str, height: int) -> None:
        self.document, self.title, self.alt, self.height = document, title, alt, height

    def to_html(self) -> str:
        """Return the view as a sandboxed frame."""
        inside = self.document.replace("&", "&amp;").replace('"', "&quot;")
        return (
            f'<iframe class="lmcourse-bertviz" title="{html.escape(self.title)}" '
            f'sandbox="allow-scripts" style="display:block;box-sizing:border-box;width:100%;'
            f"height:{self.height}px;border:1px solid #d5dbe1;border-radius:12px;background:#fff;"
            f'color-scheme:light" srcdoc="{inside}"></iframe>'
        )

    def save(self, path: str | Path) -> None:
        """Write the view as a page that needs no network."""
        page.save(path, self.title, self.to_html())

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": self.alt}

    def __repr__(self) -> str:
        return f"<BertViz: {self.alt}>"


def framed(made: str, title: str, alt: str, hint: str, height: float, **changes: Any) -> BertViz:
    """Return bertviz's page with its libraries inside, and its data once and escaped.

    Args:
        made: bertviz's own page.
        hint: how to use it.
        height: the height of the drawing and the controls above it.
        changes: changes of its parameters.
    """
    parts = re.fullmatch(
        r'<script src="[^"]+"></script>(.*)<script type="text/javascript">(.*)</script>\s*',
        made,
        re.DOTALL,
    )
    body, script = parts.groups() if parts else ("", "")
    start = script.find(_PARAMS)
    if start < 0:
        raise CourseError(
            "This version of bertviz writes an unknown page.",
            REMEDY,
        )
    params, end = json.JSONDecoder().raw_decode(script, start + len(_PARAMS))
    name = params["root_div_id"]  # random: the same view shall give the same bytes
    params |= {"root_div_id": "bertviz"} | changes
    data = json.dumps(params, separators=(",", ":")).replace("<", "\\u003c")
    script = f"{script[: start + len(_PARAMS)]}{data};{script[script.index(chr(10), end) :]}"
    fitting = _FITTING.replace("HINT", json.dumps(hint))
    document = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>"
        f'<p id="words">{html.escape(alt)}</p>{body.replace(name, "bertviz")}'
        f"<script>{LIBRARIES.read_text(encoding='utf-8')}</script>"
        f"<script>{script}</script><script>{fitting}</script></body></html>"
    )
    return BertViz(document, title, alt, round(height) + FRAME)
