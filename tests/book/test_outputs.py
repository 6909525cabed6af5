"""What cells show, as HTML: the form that is chosen, and what is made of it."""

import base64
import io
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from bs4 import BeautifulSoup
from PIL import Image

from coursekit.book.content import Content, Node
from coursekit.book.render.figures import image_size
from coursekit.book.render.night import for_night
from coursekit.book.render.nodes import Renderer
from coursekit.book.render.outputs import LONGEST
from lmcourse import show
from lmcourse.diagram import Diagram
from tests.book.conftest import WIDGET, check, picture, shown_source


@pytest.fixture
def renderer(tmp_path: Path) -> Renderer:
    """A renderer over an empty folder."""
    return Renderer(public=tmp_path, asset=lambda path: path.name, link=lambda url: url)


def outputs(*data: dict[str, Any], **attributes: Any) -> list[Node]:
    """A cell's outputs, as mystmd leaves them."""
    children = [{"type": "output", "jupyter_data": each, "children": []} for each in data]
    return [{"type": "outputs", "children": children, **attributes}]


def stream(text: str, name: str = "stdout", **more: str) -> dict[str, Any]:
    """A printed text."""
    return {"output_type": "stream", "name": name, "text": text, **more}


def display(metadata: dict[str, Any] | None = None, **forms: Any) -> dict[str, Any]:
    """An output with several forms: ``text_html="<p>"`` is ``text/html``, in place."""
    data = {
        name.replace("_", "/", 1): each if isinstance(each, dict) else {"content": each}
        for name, each in forms.items()
    }
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}


def soup(renderer: Renderer, *data: dict[str, Any]) -> BeautifulSoup:
    """Render outputs and read them."""
    return BeautifulSoup(renderer.render(outputs(*data)), "html.parser")


def test_a_stream_is_one_text_and_escaped(renderer: Renderer) -> None:
    found = soup(renderer, stream("a\n"), stream("<b>\n"), stream("!\n", "stderr"), stream("z\n"))
    texts = [each.get_text() for each in found.select(".output > pre")]
    assert texts == ["a\n<b>", "!", "z"]
    assert [each["class"][-1] for each in found.select(".output")] == ["stdout", "stderr", "stdout"]


def test_terminal_colors_are_classes(renderer: Renderer) -> None:
    found = soup(renderer, stream("\x1b[31mred <b>\x1b[0m plain"))
    assert found.pre.get_text() == "red <b> plain"
    assert found.select_one(".ansi-red-fg").get_text() == "red <b>"


def test_an_error(renderer: Renderer) -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "why", "traceback": "line\nE: why"}
    assert soup(renderer, error).select_one(".error > pre").get_text() == "line\nE: why"


def test_a_long_text_is_cut_and_offered_whole(renderer: Renderer, tmp_path: Path) -> None:
    whole = "".join(f"line {n}\n" for n in range(LONGEST))
    (tmp_path / "whole.txt").write_text(whole, encoding="utf-8")
    found = soup(renderer, stream("line ...", path="/whole.txt"))
    shown = found.pre.get_text()
    assert len(shown) <= LONGEST and whole.startswith(shown + "\n")
    assert found.select_one(".more a")["href"] == "whole.txt"
    assert "notebook" in soup(renderer, stream(whole)).select_one(".more").get_text()
    assert not soup(renderer, stream("short")).select(".more")


PNG = base64.b64encode(picture(60, 40)).decode()
ALT = {"image/png": {"alt": "A <square>."}}


def test_a_figure_is_a_file_with_words(renderer: Renderer, tmp_path: Path) -> None:
    (tmp_path / "f.png").write_bytes(picture(60, 40))
    figure = display(ALT, image_png={"path": "/f.png"}, text_html="<p>no</p>", text_plain="no")
    image = soup(renderer, figure).select_one(".output.image > img")
    assert (image["src"], image["alt"]) == ("f.png", "A <square>.")
    assert (image["width"], image["height"], image["loading"]) == ("60", "40", "lazy")


def test_a_plot_is_shown_with_half_the_pixels_that_it_has(
    renderer: Renderer, tmp_path: Path
) -> None:
    figure, axis = plt.subplots(figsize=(4.8, 2.9), dpi=110)
    axis.imshow(np.arange(12).reshape(3, 4), cmap="cividis")
    forms, described = show.forms(figure, "A ramp.")
    renderer.night = True
    html = soup(renderer, display(described, image_png=forms["image/png"]))
    day, night = html.select("img")
    assert (day["width"], day["height"]) == (night["width"], night["height"]) == ("528", "319")
    with Image.open(tmp_path / night["src"]) as image:
        assert image.size == (1056, 638)


def test_a_figure_in_place_becomes_a_file(renderer: Renderer, tmp_path: Path) -> None:
    image = soup(renderer, display(ALT, image_png=PNG)).img
    assert (tmp_path / image["src"]).read_bytes() == picture(60, 40)


def ramp_figure(path: Path, ramp: str = "cividis") -> "np.ndarray":
    """A plot of a matrix beside a line, on white paper."""
    from matplotlib import colormaps

    colors = np.full((120, 200, 3), 255, np.uint8)
    colors[10:110, 20:120] = colormaps[ramp](np.arange(100))[None, :, :3] * 255
    colors[40:44, 24:28] = 255  # a mark within the matrix
    colors[50, 150:190] = 0, 114, 178
    Image.fromarray(colors).save(path)
    return colors


def test_the_ramp_stays_on_a_dark_page_and_the_rest_turns(tmp_path: Path) -> None:
    colors = ramp_figure(tmp_path / "f.png")
    data = for_night(tmp_path / "f.png")
    assert data is not None
    turned = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    assert (turned[10:110, 20:120] == colors[10:110, 20:120]).all()
    assert (
        abs(turned[5, 5] - 23) <= 1
    ).all()  # the paper, as `invert(.92) brightness(1.15)` has it
    red, green, blue = turned[50, 170]
    assert blue > green > red and blue > 178  # the line keeps its hue, and is lighter


def test_figures_without_the_ramp_are_left_to_the_style_sheet(tmp_path: Path) -> None:
    ramp_figure(tmp_path / "f.png", "PuOr")
    assert for_night(tmp_path / "f.png") is None
    (tmp_path / "f.svg").write_text("<svg/>", encoding="utf-8")
    assert for_night(tmp_path / "f.svg") is None


def test_both_forms_of_a_figure_are_on_a_page_and_one_on_a_slide(tmp_path: Path) -> None:
    ramp_figure(tmp_path / "f.png")
    figure = display(ALT, image_png={"path": "/f.png"}, text_plain="no")
    for night, names in ((True, ["by-day", "by-night"]), (False, ["plot"])):
        made = Renderer(
            public=tmp_path, asset=lambda path: path.name, link=lambda url: url, night=night
        )
        images = soup(made, figure).select("img")
        assert [each["class"][-1] for each in images] == names
        assert {each["alt"] for each in images} == {"A <square>."}
        assert len({each["src"] for each in images}) == len(images)


def test_a_figure_without_words_is_a_problem(renderer: Renderer) -> None:
    soup(renderer, display(image_png=PNG, text_plain="<Figure>"))
    assert "show.figure" in renderer.problems[0]


def test_an_svg_needs_words(renderer: Renderer, tmp_path: Path) -> None:
    svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    found = soup(renderer, display({"image/svg+xml": {"alt": "Words"}}, **{"image_svg+xml": svg}))
    assert found.svg is None  # an image runs no scripts
    assert (tmp_path / found.img["src"]).read_text(encoding="utf-8") == svg
    assert not renderer.problems
    soup(renderer, display(**{"image_svg+xml": svg}))
    assert "SVG" in renderer.problems[0]


def diagram(width: int = 480, height: int = 120) -> Diagram:
    """A diagram of one box."""
    drawn = Diagram(width, height)
    drawn.box("$h$", width / 2, height / 2, kind="attention")
    return drawn


def shown(*words: str, number: int | None = None) -> dict[str, Any]:
    """What `lmcourse.show.figure` leaves of a diagram."""
    forms, metadata = show.forms(diagram(), *words, number=number)
    data = {mime: {"content": form} for mime, form in forms.items()}
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def test_a_figure_has_its_number_and_caption(renderer: Renderer) -> None:
    found = soup(renderer, shown("A box.", "One `state` $h_t$ is <b>kept</b>.", number=3))
    (figure,) = found.select("figure#figure-3.figure-output")
    image, caption = figure.find_all(recursive=False)
    assert image.img["alt"] == "A box." and "output" in image["class"]
    assert caption.name == "figcaption"
    assert caption.select_one(".caption-number").get_text() == "Figure 3."
    assert caption.get_text() == "Figure 3. One state ht is <b>kept</b>."
    assert (caption.code.get_text(), caption.math.get_text()) == ("state", "ht")
    assert not caption.select("p, b") and not renderer.problems


def test_a_number_or_a_caption_may_be_missing(renderer: Renderer) -> None:
    captioned = soup(renderer, shown("A box.", "One state.")).figure
    assert captioned.get_text() == "One state." and not captioned.has_attr("id")
    assert soup(renderer, shown("A box.", number=2)).figcaption.get_text().strip() == "Figure 2."
    assert not soup(renderer, shown("A box.")).select("figure, figcaption")


def test_a_caption_that_cannot_be_read_is_a_problem(renderer: Renderer) -> None:
    soup(renderer, shown("A box.", r"It is $\nosuchcommand$.", number=1))
    assert "nosuchcommand" in renderer.problems[0]


def test_a_diagram_has_its_size_before_it_is_loaded(renderer: Renderer, tmp_path: Path) -> None:
    image = soup(renderer, shown("A box.", "One state.", number=1)).img
    assert (image["width"], image["height"]) == ("480", "120")
    assert (tmp_path / image["src"]).read_text(encoding="utf-8") == diagram().svg()


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="300.6" height="99.2"', (301, 99)),
        ('xmlns="http://www.w3.org/2000/svg" width="30"\n height="40" viewBox="0 0 3 4"', (30, 40)),
        ('viewBox="0 0 3 4"', None),
        ('width="100%" height="40"', None),
    ],
)
def test_the_size_of_an_svg(tmp_path: Path, attributes: str, size: tuple[int, int] | None) -> None:
    path = tmp_path / "drawn.svg"
    path.write_text(f"<?xml version='1.0'?>\n<svg {attributes}/>", encoding="utf-8")
    assert image_size(path) == size


def test_html_is_left_as_it_is(renderer: Renderer, tmp_path: Path) -> None:
    (tmp_path / "w.html").write_text(WIDGET, encoding="utf-8")
    for form in (WIDGET, {"path": "/w.html"}):
        html = renderer.render(outputs(display(text_html=form, text_plain="words")))
        assert html.count(WIDGET) == 1


def test_a_check_has_no_colors_of_its_own(renderer: Renderer) -> None:
    data = check()["data"]
    found = soup(renderer, display(text_html=data["text/html"], text_plain=data["text/plain"]))
    kept = found.select_one(".lmcourse-check")
    assert kept["data-passed"] == "true"
    assert "style" not in str(kept)
    assert " ".join(kept.get_text(" ").split()) == (
        "✓ measured both sides: 0.5 (0.5 ± 0.1) It is 0.5 here."
    )


def test_shown_source_is_colored_as_code(renderer: Renderer) -> None:
    data = shown_source()["data"]
    plain = "# lmcourse/thing.py\ndef thing():\n    return 1 < 2\n"
    found = soup(renderer, display(text_html=data["text/html"], text_plain=plain))
    assert found.select_one(".code-name").get_text() == "lmcourse/thing.py"
    assert found.code.get_text() == "def thing():\n    return 1 < 2"
    assert not found.select("style, .highlight")
    assert found.select(".k")


def test_quotes_in_markdown_are_typographic(renderer: Renderer) -> None:
    text = """BERT's loss, the "base" model's; `it's "code"`, $f'$"""
    found = soup(renderer, display(text_markdown=text, text_plain="no"))
    code, math = found.code.extract(), found.math.extract()
    assert found.get_text().strip() == "BERT’s loss, the “base” model’s; ,"
    assert code.get_text() == """it's "code\""""
    assert "’" not in math.get_text()


def test_markdown_has_tables_and_maths_and_no_html(renderer: Renderer) -> None:
    text = "| **a** | $\\rho$ |\n|---|---|\n| <b>1</b> | costs $5/US$6 |"
    found = soup(renderer, display(text_markdown=text, text_plain="no"))
    assert found.select_one("th strong").get_text() == "a"
    assert found.select_one("th math").get_text() == "ρ"
    assert found.select_one("td").get_text() == "<b>1</b>"
    assert found.select("td")[1].get_text() == "costs $5/US$6"
    assert not renderer.problems


@pytest.mark.parametrize("tex", ["$\\nosuchcommand$", "$a_$"])
def test_maths_that_cannot_be_read_is_a_problem(renderer: Renderer, tex: str) -> None:
    soup(renderer, display(text_markdown=tex))
    assert tex.strip("$") in renderer.problems[0]


SCRIPT = "<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        (rf"\text{{{SCRIPT}}}", SCRIPT),
        (rf"\mbox{{</mtext></math>{SCRIPT}}}", f"</mtext></math>{SCRIPT}"),
        (r"\text{&lt;img src=x onerror=alert(1)&gt;}", "<img\xa0src=x\xa0onerror=alert(1)>"),
        (rf"\tag{{{SCRIPT}}}", f"({SCRIPT})"),
        (r'\color{red" onclick="alert(1)}{x}', "x"),
        (r"\href{https://example.org}{x}", "x"),
    ],
)
def test_text_in_maths_stays_text(renderer: Renderer, tex: str, shown: str) -> None:
    for form in ({"text_markdown": f"${tex}$"}, {"text_latex": tex}):
        found = soup(renderer, display(**form))
        assert found.math.get_text() == shown
        assert not found.select("script, img, [onclick]") and not renderer.problems


@pytest.mark.parametrize(
    ("tex", "named"),
    [
        (r"\href{javascript:alert(1)}{x}", "href"),
        ("\\href{java\tscript:alert(1)}{x}", "href"),
        (r"\href{data:text/html,<script>}{x}", "href"),
        (r"\style{position:fixed}{x}", "style"),
        (r"\class{lmcourse-widget}{x}", "class"),
    ],
)
def test_maths_that_would_do_more_than_show_is_a_problem(
    renderer: Renderer, tex: str, named: str
) -> None:
    found = soup(renderer, display(text_latex=tex))
    assert not found.select("[href], [style], .lmcourse-widget")
    assert found.code.get_text() == tex
    assert f"the attribute {named}=" in renderer.problems[0]


@pytest.mark.parametrize("text", ["$$x^2$$", "$x^2$", "\\[x^2\\]", "x^2"])
def test_latex(renderer: Renderer, text: str) -> None:
    found = soup(renderer, display(text_latex=text, text_plain="no"))
    assert found.math["display"] == "block"
    assert found.math.get_text() == "x2"


def test_the_order_of_forms(renderer: Renderer) -> None:
    forms = {"text_plain": "plain", "text_latex": "l", "text_markdown": "mark", "text_html": "html"}
    expected = ["plain", "l", "mark", "html"]
    for count, words in enumerate(expected, start=1):
        given = dict(list(forms.items())[:count])
        assert soup(renderer, display(**given)).get_text().strip() == words


def test_an_output_that_no_page_can_show_is_a_problem(renderer: Renderer) -> None:
    soup(renderer, display(application_pdf="x"))
    assert "application/pdf" in renderer.problems[0]


def test_visibility(renderer: Renderer) -> None:
    def render(**attributes: Any) -> BeautifulSoup:
        return BeautifulSoup(renderer.render(outputs(stream("x"), **attributes)), "html.parser")

    assert render().select(".outputs > .stream")
    assert render(visibility="hide").select("details:not([open]) > .outputs")
    assert str(render(visibility="remove")) == ""
    assert renderer.render(outputs()) == ""


def test_the_small_books_outputs(content: Content) -> None:
    renderer = Renderer(public=content.public, asset=lambda path: path.name, link=lambda url: url)
    html = renderer.render([content.page("outputs").tree])
    assert not renderer.problems
    found = BeautifulSoup(html, "html.parser")
    assert WIDGET in html
    assert "its output stays" in html and "removed_input" not in html
    assert "removed_cell" not in html and "gone" not in html
    assert found.select_one("details .outputs").get_text() == "folded"
    assert found.select_one(".cell > details:has(.outputs) code").get_text() == "hidden_cell()"
    assert found.select_one("figure#fig-cell img")["alt"] == "Another square."
    assert found.select_one(".more a")["href"].endswith(".txt")
    assert found.select_one(".source .code-name").get_text() == "lmcourse/thing.py"
