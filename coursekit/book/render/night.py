"""Figures for dark pages.

A style sheet turns most figures: white becomes dark, and colors keep their hues. The sequential
ramp (cividis) would become light where it is dark, so it stays as it is, as in widgets.
"""

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_NEAR = 3  # how far a color may be from the ramp, of 255
_COLORED = 40  # gray is on the ramp, and in every figure
_SHARE = 0.02  # of the picture; a figure with less has no ramp
_LEAST = 900  # pixels of a part that stays
INVERTED, BRIGHTER = 0.92, 1.15  # as in theme/public/book.css
# The style sheets' hue-rotate(180deg): https://www.w3.org/TR/filter-effects-1/#feColorMatrixElement
_ROTATED = ((-0.574, 1.43, 0.144), (0.426, 0.43, 0.144), (0.426, 1.43, -0.856))


def for_night(path: Path) -> bytes | None:
    """Return a figure as a dark page shows it, or ``None`` if the style sheet can turn it."""
    import numpy as np
    from PIL import Image

    if path.suffix != ".png":
        return None
    with Image.open(path) as image:
        dpi = image.info.get("dpi", (72, 72))
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
    colors = np.asarray(paper.convert("RGB")).astype(np.int16)
    if _on_ramp(colors[::4, ::4], _COLORED).mean() < _SHARE:
        return None
    turned = INVERTED * 255 - (2 * INVERTED - 1) * colors @ np.array(_ROTATED).T
    turned = turned.clip(0, 255) * BRIGHTER
    # A rotation of hues leaves grays as they are, so it may follow the inversion in one step.
    for part in _parts(_on_ramp(colors, 0)):
        turned[part] = colors[part]
    out = io.BytesIO()
    Image.fromarray(turned.clip(0, 255).round().astype(np.uint8)).save(out, "PNG", dpi=dpi)
    return out.getvalue()


def _on_ramp(colors: "np.ndarray", colored: int) -> "np.ndarray":
    """Say of each pixel whether its color is the ramp's."""
    import numpy as np
    from matplotlib import colormaps

    ramp = colormaps["cividis"](np.arange(256))[:, :3] * 255
    packed, index = np.unique(colors @ np.array([1 << 16, 1 << 8, 1]), return_inverse=True)
    found = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1)
    near = np.abs(found[:, None] - ramp).max(2).min(1) <= _NEAR
    near &= np.ptp(found, axis=1) >= colored
    return near[index.reshape(colors.shape[:2])]


def _parts(mask: "np.ndarray") -> "list[tuple[slice, slice]]":
    """Return the rectangles that the ramp fills: a matrix of cells, a color bar."""
    from scipy.ndimage import binary_closing, find_objects, label

    labels, _ = label(binary_closing(mask, iterations=4))
    parts = []
    for rows, columns in find_objects(labels):
        size = (rows.stop - rows.start) * (columns.stop - columns.start)
        if size >= _LEAST and mask[rows, columns].mean() >= 0.5:
            parts.append((rows, columns))
    return parts
