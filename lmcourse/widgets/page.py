"""A widget as HTML that needs no kernel and no network, and as a file of its own."""

import hashlib
import html
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmcourse import files
from lmcourse.errors import CourseError

STATIC = Path(__file__).with_name("static")

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{mark}
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; color: CanvasText; background: Canvas }}
body {{ margin: 0 auto; max-width: 60rem; padding: 1rem .5rem; font: 16px system-ui, sans-serif }}
</style>
</head>
<body>
<main>
{fragment}
</main>
</body>
</html>
"""


def fragment(name: str, module: str, state: Mapping[str, Any], alt: str, model: str = "") -> str:
    """Return one element and one script; the same widget gives the same bytes.

    The element shows the description until the widget has rendered, or if no script runs.

    Args:
        name: the widget's name, in letters: links use the name and its index on the page.
        module: the source of the widget's ES module.
        state: the state of its model, ready for JSON.
        alt: the widget's description.
        model: the id of its model in a notebook.
    """
    parts = [json.dumps(it, sort_keys=True, allow_nan=False) for it in (module, state, model)]
    key = f"{name}-{hashlib.sha256(''.join(parts).encode()).hexdigest()[:16]}"
    # As text for JSON.parse: in a literal, the name __proto__ would have another meaning.
    payload = (
        f'{{"key": {json.dumps(key)}, "id": {parts[2]}, "module": {parts[0]}, '
        f'"state": JSON.parse({json.dumps(parts[1])})}}'
    )
    payload = payload.replace("<", "\\u003c")  # so that no string ends the script
    starter = (STATIC / "standalone.js").read_text(encoding="utf-8")
    return (
        '<div class="lmcourse-widget tex2jax_ignore mathjax_ignore" '
        f'data-lmcourse-widget="{html.escape(key)}">'
        f"<p>{html.escape(alt)}</p></div>"
        f'<script type="module">\n{starter.replace("PAYLOAD", payload, 1)}</script>'
    )


def save(path: str | os.PathLike[str], title: str, body: str) -> None:
    """Write a page with the fragment ``body``, atomically; it replaces only such a page."""
    path = files.expanded(path)
    if not path.parent.is_dir():
        raise CourseError(
            f"There is no folder {path.parent}.", "Make it first, or choose another path."
        )
    if path.is_dir():
        raise CourseError(f"{path} is a folder.", f"Name a file in it: {path / 'widget.html'}.")
    files.require_own(path, files.HTML_MARK, "Choose another name, or remove the file first.")
    mark = files.HTML_MARK.decode()
    text = _PAGE.format(mark=mark, title=html.escape(title), fragment=body)
    try:
        with files.replacing(path) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        remedy = "Choose a path in a folder that you may write."
        raise files.trouble(error, path, remedy) from error
