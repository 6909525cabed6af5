"""A deck in Chromium, from disk, with the network cut."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from coursekit.book.render import night
from coursekit.book.slides.deck import write_deck
from coursekit.book.slides.pictures import MEASURE, SHOW
from lmcourse import show
from lmcourse.diagram import Diagram
from tests.browser import chromium
from tests.slides import trees
from tests.widgets import hosts
from tests.widgets.examples import EXAMPLES

READY = "html[data-ready]"
PARK = """() => {
  const others = [...document.querySelectorAll(".slides section:not(.present):not(.stack)")];
  window.parked = others.map((slide) => {
    const content = document.createDocumentFragment();
    content.append(...slide.childNodes);
    return [slide, content];
  });
}"""
BACK = "() => window.parked.forEach(([slide, content]) => slide.append(content))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture
def opened(browser: Browser, deck: Path) -> Iterator[hosts.Opened]:
    with hosts.open_file(browser, deck, width=1280) as it:
        start(it.page)
        yield it


def start(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_selector(READY)


def title(page: Page) -> str:
    return page.evaluate("Reveal.getCurrentSlide().querySelector('h1, h2').textContent")


def go(page: Page, name: str) -> None:
    """Go to the slide with a heading of this name (its hash)."""
    page.evaluate("(name) => { location.hash = '#/' + name }", name)
    page.wait_for_function("(name) => Reveal.getCurrentSlide().id === name", arg=name)


def to_the_widget(page: Page) -> None:
    """Go to the last slide with something alive on it."""
    page.evaluate("""() => {
      const widget = [...document.querySelectorAll(".sheet .live")].at(-1);
      const {h, v} = Reveal.getIndices(widget.closest("section"));
      Reveal.slide(h, v);
    }""")
    fitted(page)


def fitted(page: Page) -> None:
    """Wait until the widget of this slide is drawn, and fits: it is shrunk a frame later."""
    page.locator("section.present .lm svg[role=img]").wait_for()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
    page.wait_for_function("""() => {
      const sheet = document.querySelector("section.present .sheet");
      const body = sheet.querySelector(".body");
      return !sheet.dataset.fitting && body.scrollHeight <= body.clientHeight + 1;
    }""")


def axe_on_each(page: Page, rules: Sequence[str] = ()) -> None:
    """Run axe, or some of its rules, on each slide, with the others' content taken out meanwhile.

    On the first slide it stays: what one slide's ids do to another's is seen there.
    """
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(SHOW, number)
        page.evaluate(PARK if number else "() => { window.parked = [] }")
        assert hosts.axe(page, "section.present:not(.stack)", rules) == [], f"slide {number + 1}"
        page.evaluate(BACK)
    assert page.evaluate("Reveal.isLastSlide()")


def measured(page: Page) -> list[dict]:
    """What each slide is like, with all that its fragments show."""
    found = []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(SHOW, number)
        found.append(page.evaluate(MEASURE))
    return found


def test_it_asks_nobody_and_complains_of_nothing(opened):
    page = opened.page
    for _ in range(page.evaluate("Reveal.getTotalSlides()") + 4):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
    assert page.evaluate("Reveal.isLastSlide()")
    assert (opened.requests, opened.errors) == ([], [])


def test_every_slide_fits_and_can_be_read(opened):
    for sheet in measured(opened.page):
        assert sheet["text"] >= 20 and not sheet["overflows"], sheet


def test_a_fragment_is_fitted_at_its_size(browser, tmp_path):
    """Its size changes at once: else the deck measures it before it has grown, and it overflows."""
    printed = trees.cell("x", trees.stream("one line\n" * 13), hide=True, kind="-")
    last = trees.block(trees.p(trees.LONG), kind="fragment")
    chapter = trees.page(trees.block(trees.heading("Long"), kind="slide"), printed, last)
    write_deck(chapter, trees.book(chapter, tmp_path), tmp_path / "deck.html")
    with hosts.open_file(browser, tmp_path / "deck.html", width=1280) as it:
        start(it.page)
        assert not measured(it.page)[-1]["overflows"]


@pytest.fixture(scope="module")
def widgets_deck(tmp_path_factory) -> Path:
    """A slide for each widget."""

    blocks = [trees.block(kind="slide")]
    for example in EXAMPLES.values():
        widget = example.make()
        shown = trees.display(text_html=widget.to_html(), text_plain=widget.alt)
        heading = trees.heading(example.name)
        blocks += [trees.block(heading, kind="slide"), trees.cell("w", shown, hide=True, kind="-")]
    chapter, folder = trees.page(*blocks), tmp_path_factory.mktemp("widgets")
    write_deck(chapter, trees.book(chapter, folder), folder / "deck.html")
    return folder / "deck.html"


def test_every_widget_fits_a_slide(browser, widgets_deck):
    with hosts.open_file(browser, widgets_deck) as it:
        start(it.page)
        scrolling = set()
        for name in EXAMPLES:
            it.page.keyboard.press("ArrowRight")
            fitted(it.page)
            if it.page.locator("section.present .body.tall").count():
                scrolling.add(name)
        assert scrolling <= {"anatomy", "gates", "graph", "segmentation", "temperature"}
        assert it.page.evaluate("Reveal.isLastSlide()")
        sheets = measured(it.page)[1:]
        assert len(sheets) == len(EXAMPLES)
        for sheet in sheets:
            assert not sheet["overflows"] and sheet["text"] >= 20 and sheet["widget"] >= 14, sheet
        assert it.errors == []


def test_the_pointer_finds_a_block_where_it_is_drawn(browser, widgets_deck):
    with hosts.open_file(browser, widgets_deck) as it:
        start(it.page)
        it.page.keyboard.press("ArrowRight")
        fitted(it.page)
        sheet = it.page.locator("section.present")
        block = sheet.locator(".lm-stage svg text.name").nth(2)
        block.scroll_into_view_if_needed()
        name, box = block.text_content(), block.bounding_box()
        it.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(sheet.locator(".lm-facts .lm-title")).to_contain_text(name)


def test_an_answer_that_is_too_long_scrolls_by_key(browser, tmp_path):
    """No smaller letters: the last row reads 20 pixels of 720."""
    asked = trees.question("Is it tall?", " ".join(["It is."] * 400))
    tall = trees.block(trees.heading("Tall"), *asked, kind="slide")
    chapter = trees.page(trees.block(kind="slide"), tall)
    write_deck(chapter, trees.book(chapter, tmp_path), tmp_path / "deck.html")
    with hosts.open_file(browser, tmp_path / "deck.html") as it:
        start(it.page)
        it.page.keyboard.press("ArrowRight")
        it.page.locator("section.present summary").click()
        body = it.page.locator("section.present .body.scrolls")
        expect(body).to_have_attribute("tabindex", "0")
        body.focus()
        it.page.keyboard.press("PageDown")
        it.page.wait_for_function("document.querySelector('.body.scrolls').scrollTop > 100")
        assert title(it.page) == "Tall"


def test_a_diagram_is_built_up_by_key(browser, tmp_path):
    diagram = Diagram(200, 100)
    diagram.box("one", 40, 50)
    diagram.step()
    diagram.box("two", 160, 50)
    bundle, words = show.forms(diagram, "Two boxes.")
    data = {name: {"content": form} for name, form in bundle.items() if name != "text/html"}
    output = {"output_type": "display_data", "data": data, "metadata": words}
    drawn = trees.cell("draw()", output, hide=True, kind="-")
    heading = trees.block(trees.heading("Boxes"), kind="slide")
    chapter = trees.page(trees.block(kind="slide"), heading, drawn)
    write_deck(chapter, trees.book(chapter, tmp_path), tmp_path / "deck.html")
    with hosts.open_file(browser, tmp_path / "deck.html", width=1280) as it:
        start(it.page)
        it.page.keyboard.press("ArrowRight")
        picture = it.page.locator("section.present svg.steps")
        assert picture.bounding_box()["height"] > 400
        hidden = "document.querySelectorAll('section.present g.fragment:not(.visible)').length"
        assert it.page.evaluate(hidden) > 0
        it.page.keyboard.press("ArrowRight")
        assert it.page.evaluate(hidden) == 0 and title(it.page) == "Boxes"
        assert hosts.axe(it.page, "section.present") == []


def test_arrows_go_through_slides_and_fragments(opened):
    page = opened.page
    assert title(page) == "A chapter"
    page.keyboard.press("ArrowRight")
    assert title(page) == "An equation"
    page.keyboard.press("ArrowRight")  # its continuation
    assert page.evaluate("Reveal.getIndices().v") == 1
    go(page, "step-by-step")
    assert (
        page.evaluate("document.querySelectorAll('section.present .fragment.visible').length") == 0
    )
    page.keyboard.press("Space")
    assert (
        page.evaluate("document.querySelectorAll('section.present .fragment.visible').length") == 1
    )
    expect(page.locator("section.present").get_by_text("Then that.")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert title(page) == "A question"


def test_a_reference_leads_to_its_equation(opened):
    page = opened.page
    page.evaluate("location.hash = '#/eq-state'")
    page.wait_for_function("Reveal.getCurrentSlide().id === 'an-equation'")


def test_a_figures_caption_is_not_on_the_slide(browser, tmp_path):
    figure = trees.figure("A gray square.", title="Figure 1", caption="The square is gray.")
    heading = trees.block(trees.heading("Gray"), kind="slide")
    cell = trees.cell("draw()", figure, hide=True, kind="-")
    chapter = trees.page(trees.block(kind="slide"), heading, cell)
    file = tmp_path / "deck.html"
    write_deck(chapter, trees.book(chapter, tmp_path), file)
    with hosts.open_file(browser, file, width=1280) as it:
        start(it.page)
        go(it.page, "gray")
        slide = it.page.locator("section.present")
        expect(slide.locator("figcaption")).to_have_text("Figure 1. The square is gray.")
        expect(slide.locator("figcaption")).to_be_hidden()
        box = slide.locator("img").bounding_box()
        assert box["height"] > 300 and box["width"] == pytest.approx(2 * box["height"], rel=0.01)


def test_an_answer_opens_by_key_and_click_and_still_fits(opened):
    page = opened.page
    go(page, "a-question")
    answer = page.locator("section.present details")
    assert answer.get_attribute("open") is None
    answer.locator("summary").focus()
    page.keyboard.press("Space")
    expect(answer).to_have_attribute("open", "")
    assert title(page) == "A question"
    fits = "(it => it.scrollHeight <= it.clientHeight + 1)"
    page.wait_for_function(f"{fits}(Reveal.getCurrentSlide().querySelector('.body'))", timeout=5000)
    answer.locator("summary").click()
    assert answer.get_attribute("open") is None


def test_t_switches_light_and_dark_and_it_is_remembered(opened):
    page = opened.page
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "light"
    page.keyboard.press("t")
    assert page.evaluate(theme) == "dark"
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.reveal')).color")
        != "rgb(27, 31, 36)"
    )
    page.reload()
    page.wait_for_selector(READY)
    assert page.evaluate(theme) == "dark"


def test_the_viewers_preference_is_followed(browser, deck):
    with hosts.open_file(browser, deck, dark=True) as it:
        start(it.page)
        assert it.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_figures_suit_dark_slides(opened):
    page, figure = opened.page, opened.page.locator("img.plot").first
    turned = f"invert({night.INVERTED}) hue-rotate(180deg) brightness({night.BRIGHTER})"
    style = "it => getComputedStyle(it).filter"
    assert figure.evaluate(style) == "none"
    page.keyboard.press("t")
    assert figure.evaluate(style) == turned


def test_help_and_overview(opened):
    page = opened.page
    page.keyboard.press("Shift+?")
    page.get_by_text("Light or dark").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    page.wait_for_selector(".reveal.overview")


def test_the_speakers_view_shows_notes(browser, deck):
    context = browser.new_context(offline=True)
    page = context.new_page()
    errors: list[str] = []
    context.on("weberror", lambda it: errors.append(str(it.error)))
    page.goto(deck.as_uri() + "#/step-by-step")
    page.wait_for_selector(READY)
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    notes = popup.value.locator(".speaker-controls-notes .value")
    expect(notes).to_contain_text("Say hello.")
    page.keyboard.press("Home")
    expect(notes).to_contain_text("You need nothing.")
    assert errors == []
    context.close()


def test_keys_on_the_widget_are_the_widgets(opened):
    page = opened.page
    to_the_widget(page)
    slider = page.locator("section.present .lm-controls input[type=range]").first
    before = slider.input_value()
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before
    assert title(page) == "Move it"
    cell = page.locator("section.present .lm-cell").first
    cell.focus()
    at = cell.get_attribute("aria-label")
    page.keyboard.press("ArrowUp")
    assert cell.get_attribute("aria-label") != at and title(page) == "Move it"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    assert title(page) == "Takeaways"


def test_the_pointer_finds_the_widgets_cells(opened):
    """The slide is scaled, and the widget in it: a click on the 16th of 60 rows is step 16."""
    page = opened.page
    page.set_viewport_size({"width": 1920, "height": 1080})
    to_the_widget(page)
    box = page.locator("section.present .lm-grid").first.bounding_box()
    page.mouse.click(box["x"] + 3, box["y"] + box["height"] * 15.5 / 60)
    chosen = page.locator("section.present .lm-controls output").last
    expect(chosen).to_have_text("16")
    assert title(page) == "Move it"


def test_a_swipe_on_the_widget_is_no_swipe_of_the_deck(browser, deck):
    swipe = """([from, to]) => {
      const fire = (type, x) => {
        const at = document.elementFromPoint(from.x, from.y);
        const options = {pointerType: "touch", clientX: x, clientY: from.y, bubbles: true};
        at.dispatchEvent(new PointerEvent(type, options));
      };
      fire("pointerdown", from.x); fire("pointermove", to.x); fire("pointerup", to.x);
    }"""
    with hosts.open_file(browser, deck, touch=True) as it:
        page = it.page
        start(page)
        to_the_widget(page)
        box = page.locator("section.present .lm-stage").bounding_box()
        middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        page.evaluate(swipe, [middle, {"x": middle["x"] - 200}])
        assert title(page) == "Move it"
        edge = {"x": 640, "y": 700}
        page.evaluate(swipe, [edge, {"x": 300}])
        page.wait_for_function("Reveal.getCurrentSlide().id !== 'move-it'")
        page.keyboard.press("ArrowLeft")
        page.locator("section.present select").tap()


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(browser, deck, dark):
    with hosts.open_file(browser, deck, dark=dark) as it:
        start(it.page)
        for name in ("an-equation", "a-figure", "a-question", "move-it", "takeaways"):
            go(it.page, name)
            it.page.wait_for_timeout(400)  # the slide has faded in
            assert hosts.axe(it.page) == [], name


@pytest.mark.parametrize("width", [390])
def test_a_phone_shows_it(browser, deck, width):
    with hosts.open_file(browser, deck, width=width, touch=True) as it:
        it.page.wait_for_selector(READY)
        assert hosts.overflow(it.page) == 0
        assert it.errors == []
