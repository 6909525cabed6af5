"""A widget as HTML that needs no kernel and no network, and as a file of its own."""

import errno
import hashlib
import html
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmcourse.errors import CourseError

STATIC = Path(__file__).with_name("static")

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
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


def fragment(name: str, module: str, state: Mapping[str, Any], alt: str) -> str:
    """One element and one script; equal widgets give equal bytes.

    The element holds the text until the widget has rendered, and keeps it where no script runs.

    Args:
        name: of the widget, in letters: links to it have the name and its place among its like.
        module: the widget's ES module.
        state: what its model holds, ready for JSON.
        alt: what the widget shows, in words.
    """
    parts = [json.dumps(it, sort_keys=True, allow_nan=False) for it in (module, state)]
    key = f"{name}-{hashlib.sha256(''.join(parts).encode()).hexdigest()[:16]}"
    # The state as text to be parsed: in a literal, a name such as __proto__ would be no name.
    payload = (
        f'{{"key": "{key}", "module": {parts[0]}, "state": JSON.parse({json.dumps(parts[1])})}}'
    )
    payload = payload.replace("<", "\\u003c")  # so that no string of the state ends the script
    starter = (STATIC / "standalone.js").read_text(encoding="utf-8")
    return (
        f'<div class="lmcourse-widget" data-lmcourse-widget="{key}"><p>{html.escape(alt)}</p></div>'
        f'<script type="module">\n{starter.replace("PAYLOAD", payload, 1)}</script>'
    )


def save(path: Path, title: str, body: str) -> None:
    """Write a page that holds the fragment ``body``: whole, or not at all.

    Raises:
        CourseError: the folder is not there, or the file cannot be written.
    """
    text = _PAGE.format(title=html.escape(title), fragment=body)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            temporary.write_text(text, encoding="utf-8", newline="\n")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _trouble(error, path) from error


def _trouble(error: OSError, path: Path) -> CourseError:
    if not path.parent.is_dir():
        return CourseError(
            f"There is no folder {path.parent}.", "Make it first, or choose another path."
        )
    if path.is_dir():
        return CourseError(f"{path} is a folder.", f"Name a file in it: {path / 'widget.html'}.")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CourseError(
            f"The disk is full: {path} was not written.", "Free some space and save again."
        )
    return CourseError(
        f"{path} could not be written: {error.strerror or error}.",
        "Choose a path in a folder that you may write.",
    )
