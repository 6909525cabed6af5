"""Take the preview picture anew: `python -m theme.social`. It draws theme/social.html."""

import io
from pathlib import Path

from PIL import Image

from tests.browser import chromium

HERE = Path(__file__).parent
KILOBYTES = 200


def main() -> None:
    """Draw the page in Chromium, and save it in few enough colors to stay small."""
    emblem = (HERE / "emblem.svg").read_text(encoding="utf-8")
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 630}, color_scheme="light")
        page.goto((HERE / "social.html").as_uri())
        page.evaluate("svg => document.body.insertAdjacentHTML('beforeend', svg)", emblem)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(128)
    path = HERE / "public" / "social.png"
    picture.save(path, optimize=True)
    size = path.stat().st_size / 1000
    print(f"{path.name}: {size:.0f} kB")
    if size > KILOBYTES:
        raise SystemExit(f"{path.name} is larger than {KILOBYTES} kB.")


if __name__ == "__main__":
    main()
