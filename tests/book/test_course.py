"""The course's own book: built from its sources as `make book` builds it, and read in Chromium."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, Page, Position, expect

from benchmarks.book import WEIGHT, weights
from coursekit import course, outline
from coursekit.book import build
from coursekit.book.execute import execute
from coursekit.book.published import Published
from coursekit.book.site.site import write_site
from tests.book.conftest import BASE_URL, Opened
from tests.browser import picture
from tests.notebook_items import executing
from tests.slides import test_deck_browser as decks
from tests.widgets.hosts import COLORS, axe, overflow

Open = Callable[..., Opened]
PAGES = [
    "index.html",
    *(f"{source.address}.html" for source in course.sources()),
    "glossary.html",
]
DECKS = [f"slides/{source.slug}.html" for source in course.sources("chapter")]
FLOW = ["recurrent-language-models.html", "slides/02-recurrent-language-models.html"]
LABS = [f"{source.address}.html" for source in course.sources("lab")]
GALLERY = [f"{source.address}.html" for source in course.sources("widget")]
WITH_WIDGET = [*FLOW, *GALLERY]

NORM = re.compile(r"^‖G‖ \d")  # above each strip: the length of that cell's gradient


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book in a folder of its own; what `make book` has executed is not executed again."""
    folder = tmp_path_factory.mktemp("course")
    for source in course.sources():
        with executing(source.path):  # not while a worker still runs it as a test
            pass
    executed = execute(course.sources(), course.products() / "executed", print)
    content = build.parse(executed, outline.read(), folder / "source", print)
    slides = build.decks(content, folder / "decks", BASE_URL)
    (folder / "site").mkdir()
    write_site(content, folder / "site", published=Published(BASE_URL), slides=slides)
    return folder / "site"


def widget_of(page: Page, name: str) -> Locator:
    """Go to the page's last widget, or to the slide that holds it, and return it."""
    if name in DECKS:
        page.wait_for_selector(decks.READY)
        decks.to_the_widget(page)
        return page.locator("section.present .lm")
    widget = page.locator(".lm").last
    widget.scroll_into_view_if_needed()
    return widget


def test_every_page_and_deck_is_there(site: Path) -> None:
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert found == {*PAGES, *DECKS, "404.html"}


# One of each kind: what they load of the site is the same.
KINDS = ["index.html", *FLOW, LABS[0], GALLERY[0], "glossary.html"]


@pytest.mark.parametrize("name", KINDS)
def test_under_a_sub_path(opened: Open, address: str, name: str) -> None:
    it = opened()
    it.page.goto(f"{address}/{name}")
    expect(it.page.locator("h1").first).to_be_visible()
    if name in WITH_WIDGET:
        expect(widget_of(it.page, name).locator("svg").first).to_be_visible()
    assert it.is_quiet(), it


def test_every_address_is_relative_and_leads_to_a_file(site: Path) -> None:
    """So a page that works from a disk works under every path."""
    wrong = [
        f"{page.relative_to(site)}: {address}"
        for page in site.rglob("*.html")
        if page.name != "404.html"  # it may stand at any depth
        for tag in BeautifulSoup(page.read_text("utf-8"), "html.parser").find_all(True)
        for address in (tag.get("href"), tag.get("src"))
        if address
        and not urlsplit(address).scheme
        and not address.startswith("#")
        and (
            address.startswith("/") or not (page.parent / unquote(urlsplit(address).path)).is_file()
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("name", FLOW)
@pytest.mark.parametrize("by", ["keyboard", "mouse", "touch"])
def test_the_widget_answers(opened: Open, name: str, by: str) -> None:
    it = opened(has_touch=by == "touch")
    widget = widget_of(it.open(name), name)
    slider = widget.get_by_label("Spectral radius")
    value = widget.locator(".lm-field", has_text="Spectral radius").locator("output")
    norm = widget.get_by_text(NORM).first
    before = norm.text_content() or ""
    expect(value).to_have_text("1")
    slider.scroll_into_view_if_needed()
    if by == "keyboard":
        slider.focus()
        it.page.keyboard.press("ArrowRight")
        expect(value).to_have_text("1.05")
    else:
        box = slider.bounding_box()
        assert box is not None
        point = (box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
        (it.page.mouse.click if by == "mouse" else it.page.touchscreen.tap)(*point)
        expect(value).to_have_text(re.compile(r"2\.\d+"))
    expect(norm).not_to_have_text(before)
    assert it.is_quiet(), it


@pytest.mark.parametrize("name", GALLERY)
def test_every_widget_of_the_gallery_answers_from_a_disk(opened: Open, name: str) -> None:
    it = opened()
    roots = it.open(name).locator(".lm")
    expect(roots.first).to_be_visible()
    for root in roots.all():
        figure = root.locator(".lm-stage svg[role=img]")
        before = figure.get_attribute("aria-label") or ""
        for act in (by_control, by_click):
            if act(root):
                expect(figure).not_to_have_attribute("aria-label", before)
                root.get_by_role("button", name="Reset").click()
                expect(figure).to_have_attribute("aria-label", before)
    assert it.is_quiet(), it


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080), (390, 844)])
@pytest.mark.parametrize("name", GALLERY)
def test_a_widget_is_on_its_pages_first_screen(
    opened: Open, name: str, width: int, height: int
) -> None:
    page = opened(width=width, height=height).open(name)
    widget = page.locator(".lm").first
    stage = widget.locator(".lm-stage")
    expect(stage.locator("svg[role=img]")).to_be_visible()
    expect(page.locator(".opening > p")).to_be_in_viewport(ratio=1)  # what to do
    expect(page.locator(".opening .stream")).to_have_count(0)  # the widget alone
    figure, whole = stage.bounding_box(), widget.bounding_box()
    assert figure is not None and whole is not None
    phone = width < 600
    assert figure["y"] < height * (0.6 if phone else 0.3)
    for control in widget.locator(".lm-controls .lm-field:visible").all():
        box = control.bounding_box()
        assert box is not None
        below = box["y"] >= figure["y"] + figure["height"]
        assert below if phone else below or box["x"] >= figure["x"] + figure["width"]
    if not phone and figure["height"] < height - figure["y"]:
        assert whole["y"] + whole["height"] <= height


def test_a_phone_shows_the_selected_block_and_what_it_is(opened: Open) -> None:
    page = opened(width=390, height=844).open("anatomy.html")
    widget = page.locator(".lm").first
    name = widget.locator(".lm-facts .lm-title")
    expect(name).to_be_in_viewport(ratio=1)  # of the block that is selected at first
    block = widget.locator("svg text.name", has_text="LayerNorm").first
    block.click(force=True)  # what is over it takes it
    expect(name).to_contain_text("LayerNorm")
    expect(name).to_be_in_viewport(ratio=1)
    expect(block).to_be_in_viewport(ratio=1)


def test_a_phones_first_screen_has_what_the_first_line_names(opened: Open) -> None:
    page = opened(width=390, height=844)
    masking = page.open("masking.html").locator(".lm").first
    expect(masking.get_by_role("button", name="Draw again")).to_be_in_viewport(ratio=1)
    expect(masking.locator("svg text", has_text="← true")).to_be_in_viewport(ratio=1)  # its bars
    heads = opened(width=390, height=844).open("attention-heads.html").locator(".lm").first
    expect(heads.get_by_role("group", name="Draw")).to_be_in_viewport(ratio=1)
    expect(heads.locator("svg text", has_text="counterfeit 18")).to_be_in_viewport(ratio=1)


def test_a_phone_breaks_no_heading_at_a_hyphen(opened: Open) -> None:
    page = opened(width=390).open("the-transformer.html")
    words = page.locator(":is(h2, h3) > .unbroken").all()
    assert len(words) >= 2
    for word in words:
        word.evaluate("""it => {
            const width = it.offsetWidth, before = document.createElement("span");
            before.style = `display: inline-block; width: ${0.6 * width}px`;
            it.before(before, " ");
            it.parentElement.style = `text-wrap: wrap; width: ${1.4 * width}px`;
        }""")
        assert word.evaluate("it => it.getClientRects().length === 1 && it.offsetHeight < 40")


def test_the_example_of_a_pronoun_fits_on_a_phone(opened: Open) -> None:
    output = opened(width=390).open("attention.html").locator("pre", has_text="exact P(▁he▁")
    assert output.evaluate("it => it.scrollWidth <= it.clientWidth")


def by_control(root: Locator) -> bool:
    """Move each slider, choice and box with keys; return whether there are any."""
    controls = root.locator(".lm-controls :is(input[type=range], input[type=checkbox], select)")
    for control in controls.all():
        control.focus()
        if control.get_attribute("type") == "checkbox":
            root.page.keyboard.press(" ")
            continue
        before = control.input_value()
        root.page.keyboard.press("Home")
        if control.input_value() == before:
            root.page.keyboard.press("End")
    return controls.count() > 0


def by_click(root: Locator) -> bool:
    """Click in the grids, until the picture changes: some have empty space, or show what is pinned.

    Return whether there are any.
    """
    grids = root.get_by_role("grid")
    figure = root.locator(".lm-stage svg[role=img]")
    before = figure.get_attribute("aria-label")
    for grid in grids.all():
        for right, down in itertools.product(
            (0.3, 0.05, 0.5, 0.95, 0.15, 0.8), (0.7, 0.1, 0.5, 0.3, 0.9)
        ):
            grid.click(position=share(grid, right, down))
            root.page.wait_for_timeout(100)
            if figure.get_attribute("aria-label") != before:
                return True
    return grids.count() > 0


def share(place: Locator, right: float, down: float) -> Position:
    box = place.bounding_box()
    assert box is not None
    return {"x": right * box["width"], "y": down * box["height"]}


# What students type, and where the first result must lead.
SEARCHES = {
    "perplexity": "recurrent-language-models.html#definition-perplexity",
    "vanishing gradient": "recurrent-language-models.html#definition-vanishing-gradient",
    "teacher forcing": "the-transformer.html#definition-teacher-forcing",
    "softmax": "recurrent-language-models.html#definition-softmax",
    "self attention": "the-transformer.html#definition-self-attention",
    "multi-head": "the-transformer.html#definition-multi-head-attention",
    "positional encoding": "the-transformer.html#definition-position-encoding",
    "layer norm": "the-transformer.html#definition-layer-normalization",
    "bert masking 80 10 10": "bert.html#why-80-10-10",
    "wordpiece": "subword-tokenization.html#definition-wordpiece",
    "byte pair encoding": "subword-tokenization.html#definition-byte-pair-encoding",
    "out of vocabulary": "subword-tokenization.html#definition-oov-rate",
    "viterbi": "subword-tokenization.html#definition-viterbi-algorithm",
    "sentencepiece": "subword-tokenization.html#definition-sentencepiece",
    "bits per character": "subword-tokenization.html#definition-bits-per-character",
    "attenton": "attention.html#definition-attention",
    "bptt": "recurrent-language-models.html#definition-backpropagation-through-time",
    "truncated backprop": "recurrent-language-models.html#definition-truncated-bptt",
    "causal mask": "attention.html#definition-causal-mask",
    "beam search": "the-transformer.html#definition-beam-search",
    "next sentence prediction": "bert.html#definition-next-sentence-prediction",
    "knowledge distillation": "distilbert.html#definition-knowledge-distillation",
    "soft targets": "distilbert.html#definition-soft-targets",
    "triple loss": "distilbert.html#definition-triple-loss",
    "distilbert": "distilbert.html",
    "lstm": "lstm-and-gru.html#definition-lstm",
    "gru": "lstm-and-gru.html#definition-gru",
    "forget gate": "lstm-and-gru.html#definition-forget-gate",
    "forget bias": "lstm-and-gru.html#definition-forget-bias",
    "peephole lstm": "lab-lstm-and-gru.html#id-03-5-peepholes",
    "kv cache": "the-transformer.html#definition-kv-cache",
    "pre-norm vs post-norm": "the-transformer.html#definition-post-norm",
    "backpropagation": "backpropagation.html",
    "topological order": "backpropagation.html#definition-topological-order",
    "dropout": "backpropagation.html#definition-dropout",
    "vector-jacobian product": "backpropagation.html#definition-vector-jacobian-product",
    "bilstm": "bidirectional-lstm-and-dropout.html#definition-bilstm",
    "variational dropout": "bidirectional-lstm-and-dropout.html#definition-variational-dropout",
    "pack padded sequence": "lab-bidirectional-lstm-and-dropout.html#id-04-1",
    "label leak": "lab-bidirectional-lstm-and-dropout.html",
    "pmi": "word-embeddings.html#definition-pointwise-mutual-information",
    "tf-idf": "word-embeddings.html#definition-tf-idf",
    "word2vec skip-gram": "word-embeddings.html#predict-instead-of-counting",
    "negative sampling": "word-embeddings.html#definition-negative-sampling",
    "cosine similarity": "word-embeddings.html#definition-cosine-similarity",
    "overfitting": "bidirectional-lstm-and-dropout.html#definition-overfitting",
    "elmo": "elmo.html#definition-elmo",
    "highway network": "elmo.html#highway-layers-transform-or-carry",
    "scalar mix": "elmo.html#definition-scalar-mix",
    "bilm": "elmo.html#definition-bidirectional-language-model",
    "word sense disambiguation": "elmo.html#definition-word-sense-disambiguation",
    "glue": "fine-tuning-and-features.html#definition-glue",
    "matthews": "fine-tuning-and-features.html#definition-matthews-correlation",
    "squad exact match": "fine-tuning-and-features.html#definition-exact-match",
    "learning curve": "fine-tuning-and-features.html#definition-learning-curve",
    "fine-tuning fails": "fine-tuning-and-features.html#why-do-some-seeds-fail",
    "feature-based": "fine-tuning-and-features.html#definition-feature-based",
    "floor": "recurrent-language-models.html#definition-floor",
    "roberta": "roberta.html",
    "gradient accumulation": "roberta.html#definition-gradient-accumulation",
    "torchrun": "roberta.html#two-processes-one-step",
    "linear scaling rule": "roberta.html#definition-linear-scaling-rule",
    "data parallel": "roberta.html#definition-data-parallel-training",
    "k-bert": "k-bert.html",
    "visible matrix": "k-bert.html#definition-visible-matrix",
    "knowledge graph": "k-bert.html#definition-knowledge-graph",
    "knowledge noise": "k-bert.html",
    "electra": "spanbert-and-electra.html",
    "span boundary objective": "spanbert-and-electra.html",
    "replaced token detection": "spanbert-and-electra.html",
}
TEX = re.compile(r"\$|\\(?:[a-z]*frac|sqrt|top|math[a-z]+|operatorname|[a-z]*dot|sum|q?quad)\b")


def test_the_first_result_is_right(opened: Open) -> None:
    it = opened()
    page = it.open("index.html")
    page.keyboard.press("/")
    box, first = page.get_by_role("combobox"), page.get_by_role("option").first
    wrong = {}
    for words, target in SEARCHES.items():
        box.fill(words)
        expect(first).to_be_visible()
        assert not TEX.search(page.locator(".search .results").inner_text()), words
        found = first.get_attribute("href") or ""
        if not found.startswith(target):
            wrong[words] = found
    assert not wrong
    box.fill("floor")
    expect(first).to_have_attribute("href", SEARCHES["floor"])
    picture(page, "search")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(SEARCHES["floor"]) + "$"))
    expect(page.locator("#definition-floor")).to_be_in_viewport()
    assert it.is_quiet(), it


@pytest.mark.parametrize(
    ("name", "link", "words"),
    [
        ("the-transformer.html", "a.term", "Chapter 08"),
        ("the-transformer.html", "a.citation", "Vaswani"),
        ("attention.html", "a.reference[href='#eq-lookup']", "(8.1)"),
        ("gates.html", "a.term", "Chapter 02"),
    ],
)
def test_references_show_their_targets(opened: Open, name: str, link: str, words: str) -> None:
    it = opened()
    page = it.open(name)
    page.locator(f"article {link}").first.hover()
    card = page.locator(".preview:not([hidden])")
    expect(card).to_contain_text(words)
    assert axe(page, rules=COLORS) == []
    assert it.is_quiet(), it


def test_every_term_has_a_preview(site: Path) -> None:
    script = (site / "previews.js").read_text(encoding="utf-8")
    pages = [site / f"{source.address}.html" for source in course.sources()]
    terms = {
        each
        for page in pages
        for each in re.findall(r"glossary\.html#[\w-]+", page.read_text("utf-8"))
    }
    assert len(terms) >= 40
    assert not [each for each in terms if f'"{each}":' not in script]


def test_numbers_begin_with_the_chapters(site: Path) -> None:
    for source in course.sources("chapter"):
        text = (site / f"{source.address}.html").read_text(encoding="utf-8")
        number = int(source.number)
        figures = re.findall(r'class="caption-number">Figure ([\d.]+)\.<', text)
        assert figures == [f"{number}.{count}" for count in range(1, len(figures) + 1)]
        equations = re.findall(r'aria-label="Link to equation ([\d.]+)"', text)
        assert equations == [f"{number}.{count}" for count in range(1, len(equations) + 1)]
        assert len(figures) >= 4 and len(equations) >= 4


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["eq-rotation", "eq-layernorm"])
def test_wide_equations_fit_or_show_that_they_scroll(opened: Open, name: str, width: int) -> None:
    page = opened(width=width).open(f"the-transformer.html#{name}")
    page.evaluate("document.fonts.ready")
    box = page.locator(f"#{name} > .scroll")
    more = box.evaluate("it => it.scrollWidth > it.clientWidth + 1")
    expect(box).to_have_attribute("data-more", "right" if more else "")
    shown = box.evaluate("it => getComputedStyle(it.parentElement, '::after').content !== 'none'")
    assert shown == more
    assert not (more and width == 1280)


def test_pages_are_light(site: Path) -> None:
    weights_of = {page.name: weights(page)[1] for page in site.glob("*.html")}
    assert max(weights_of.values()) <= WEIGHT, weights_of


@pytest.mark.parametrize("name", PAGES)
def test_from_a_disk_nothing_is_asked_of_others_and_axe_finds_nothing(
    opened: Open, name: str
) -> None:
    it = opened()
    page = it.open(name)
    expect(page.locator("h1").first).to_be_visible()
    if name in WITH_WIDGET:
        expect(widget_of(page, name).locator("svg").first).to_be_visible()
    picture(page, Path(name).stem)
    assert it.is_quiet(), it  # axe itself asks for the style sheets
    assert axe(page) == []
    assert overflow(page) == 0
    if name not in GALLERY:  # each widget is tried in all forms by its own tests
        page.set_viewport_size({"width": 390, "height": 900})
        assert axe(page) == []
        assert overflow(page) == 0
        page.emulate_media(color_scheme="dark")
        assert axe(page, rules=COLORS) == []


@pytest.mark.parametrize("name", ["index.html", FLOW[0], LABS[0], *GALLERY, "glossary.html"])
def test_axe_finds_nothing_serious_where_a_phone_opens_it_in_the_dark(
    opened: Open, name: str
) -> None:
    page = opened(dark=True, width=390).open(name)
    if name in WITH_WIDGET:
        expect(page.locator(".lm svg").first).to_be_visible()
    assert axe(page, rules=COLORS) == []
    assert overflow(page) == 0


@pytest.mark.parametrize("name", DECKS)
def test_a_deck_fits_a_phone(opened: Open, name: str) -> None:
    it = opened(width=390)
    page = it.open(name)
    page.wait_for_selector(decks.READY)
    expect(page.locator("h1").first).to_be_visible()
    assert it.is_quiet(), it
    assert axe(page) == []
    assert overflow(page) == 0


@pytest.mark.parametrize("name", DECKS)
def test_every_slide_fits_and_is_readable(opened: Open, name: str) -> None:
    """Light and, as far as colors go, dark. Slides do not fade in: axe would see them half done."""
    it = opened(height=720, reduced_motion="reduce")
    page = it.open(name)
    decks.start(page)
    if name in WITH_WIDGET:
        decks.to_the_widget(page)
    sheets = decks.measured(page)
    assert 20 <= len(sheets) <= 40, "as many as a chapter's time allows"
    for sheet in sheets:
        assert sheet["text"] >= 20 and not sheet["overflows"], sheet
    decks.axe_on_each(page)
    assert it.is_quiet(), it
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    decks.axe_on_each(page, COLORS)
