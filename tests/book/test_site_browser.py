"""The site in Chromium: from a disk and under a sub-path, by mouse, touch and keyboard."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError, expect

from coursekit.book.content import Content
from coursekit.book.render import night
from coursekit.book.site.site import write_site
from tests.book.conftest import WIDGET, Opened, served
from tests.browser import picture
from tests.widgets.hosts import axe, overflow

PAGES = ("index.html", "everything.html", "outputs.html", "second.html", "404.html")
Open = Callable[..., Opened]


@pytest.mark.parametrize("name", [name for name in PAGES if name != "404.html"])
def test_from_a_disk_nothing_is_asked_of_others(opened: Open, name: str) -> None:
    it = opened()
    page = it.open(name)
    expect(page.locator("h1")).to_be_visible()
    page.locator("body").press("/")  # the search brings a script and the book's words
    expect(page.get_by_role("combobox")).to_be_focused()
    assert it.is_quiet(), it


@pytest.mark.parametrize("name", PAGES)
def test_under_a_sub_path(opened: Open, address: str, name: str) -> None:
    it = opened()
    it.page.goto(f"{address}/{name}")
    expect(it.page.locator("h1")).to_be_visible()
    assert it.page.evaluate("getComputedStyle(document.querySelector('.topbar')).position") == (
        "sticky"
    )
    it.page.locator("body").press("/")
    expect(it.page.get_by_role("combobox")).to_be_focused()
    assert it.is_quiet(), it


def test_the_missing_page_at_any_depth(opened: Open, address: str) -> None:
    it = opened()
    answer = it.page.goto(f"{address}/deep/down/gone.html")
    assert answer is not None and answer.status == 404
    assert it.page.evaluate("getComputedStyle(document.querySelector('.topbar')).position") == (
        "sticky"
    )
    it.page.wait_for_load_state("networkidle")  # leaving would cut short what still loads
    it.page.get_by_role("link", name="The first page").click()
    expect(it.page).to_have_url(f"{address}/index.html")
    assert not it.outside and not it.failed


@pytest.mark.parametrize("prefix", ["", "/some/course"])
def test_the_missing_page_finds_a_book_whose_address_was_not_known(
    opened: Open, content: Content, tmp_path: Path, prefix: str
) -> None:
    write_site(content, tmp_path)
    with served(tmp_path, prefix) as address:
        page = opened().page
        page.goto(f"{address}/deep/down/gone.html")
        bar = "getComputedStyle(document.querySelector('.topbar')).position"
        assert page.evaluate(bar) == "sticky"
        assert page.locator(".skip").evaluate("it => it.href") == page.url + "#main"
        page.get_by_role("button", name="Search the book").click()
        page.get_by_role("combobox").fill("truncation")
        expect(page.get_by_role("option")).to_contain_text(["Far away"])
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{address}/second.html#far")


def test_the_missing_page_from_a_disk(content: Content, opened: Open, site: Path) -> None:
    without = site / "without"
    without.mkdir()
    write_site(content, without)
    it = opened()
    it.open("without/404.html").get_by_role("link", name="The first page").click()
    expect(it.page).to_have_url(re.compile(r"/without/index\.html$"))
    assert it.is_quiet(), it


CARD = ".preview:not([hidden])"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("a.reference[href='#eq-pythagoras']", "(1)Go to the equation"),
        ("a[href='second.html#eq-far']", "Go to the equation"),  # of another page
        ("a[href='#cite-elman1990']", "Elman, J. L."),
        (".footnote-reference a", "The text of the footnote.Go to the note"),
        ("a[href='#term-hidden-state']", "What the network carries"),
    ],
)
def test_a_reference_shows_its_target(opened: Open, link: str, words: str) -> None:
    it = opened()
    page = it.open("everything.html")
    card, reference = page.locator(CARD), page.locator(f"article {link}").first
    reference.hover()
    expect(card).to_contain_text(words)
    expect(reference).to_have_attribute("aria-describedby", "preview")
    card.hover()  # the pointer may go there, to follow a link in it
    page.wait_for_timeout(500)
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(reference).not_to_have_attribute("aria-describedby", "preview")
    ids = "[...document.querySelectorAll('[id]')].map(it => it.id)"
    assert page.evaluate(f"new Set({ids}).size === {ids}.length")
    assert it.is_quiet(), it


def test_a_preview_by_keyboard(opened: Open) -> None:
    page = opened().open("everything.html")
    card, reference = page.locator(CARD), page.locator("a.reference[href='#eq-pythagoras']").first
    page.keyboard.press("Tab")  # from now on, focus is seen
    reference.focus()
    expect(card).to_be_visible()
    picture(page, "preview")
    assert axe(page) == []
    box, bar = card.bounding_box(), page.locator(".topbar").bounding_box()
    assert box and bar and box["y"] >= bar["height"] and box["x"] >= 0
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.preview')")
    page.keyboard.press("Shift+Tab")
    expect(card).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#eq-pythagoras$"))


def test_a_preview_by_touch(opened: Open) -> None:
    page = opened(width=390, height=844, has_touch=True, is_mobile=True).open("everything.html")
    card, reference = page.locator(CARD), page.locator("article a[href='second.html#eq-far']").last
    reference.tap()
    expect(card).to_contain_text("Go to the equation")
    expect(page).to_have_url(re.compile(r"/everything\.html$"))
    box = card.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert overflow(page) == 0
    page.locator("h1").tap()
    expect(card).to_have_count(0)
    reference.tap()
    expect(card).to_be_visible()
    reference.tap()
    expect(page).to_have_url(re.compile(r"/second\.html#eq-far$"))


def test_a_touch_follows_a_reference_that_shows_nothing(opened: Open) -> None:
    page = opened(width=390, has_touch=True, is_mobile=True).open("everything.html")
    page.locator("article a.reference[href='#lists']").first.tap()
    expect(page).to_have_url(re.compile("#lists$"))
    expect(page.locator(CARD)).to_have_count(0)


def test_the_contents_of_a_page_on_a_phone(opened: Open) -> None:
    page = opened(width=390, height=844, has_touch=True, is_mobile=True).open("everything.html")
    here = page.get_by_role("navigation", name="On this page")
    link = here.get_by_role("link", name="Tables")
    expect(here.locator("summary")).to_be_in_viewport()
    expect(link).to_be_hidden()
    assert page.locator("h1").evaluate("it => it.getBoundingClientRect().top") > 90
    here.locator("summary").tap()
    expect(link).to_be_visible()
    assert axe(page) == []
    picture(page, "here")
    link.tap()
    expect(link).to_be_hidden()
    expect(page).to_have_url(re.compile("#tables$"))
    top = page.locator("#tables").evaluate("it => it.getBoundingClientRect().top")
    box = here.bounding_box()
    assert box and top >= box["y"] + box["height"]
    here.locator("summary").tap()
    page.touchscreen.tap(195, 820)  # beside the list
    expect(link).to_be_hidden()


def test_what_scrolls_shows_where_there_is_more(opened: Open) -> None:
    page = opened(width=360).open("everything.html")
    wide, narrow = page.locator("#eq-wide > .scroll"), page.locator("#eq-pythagoras > .scroll")
    arrow = "it => getComputedStyle(it.parentElement, '::after').content"
    fades = "it => getComputedStyle(it).maskImage"
    expect(wide).to_have_attribute("data-more", "right")
    clear = "rgba(0, 0, 0, 0)"
    assert "›" in wide.evaluate(arrow) and wide.evaluate(fades).endswith(f"{clear})")
    expect(narrow).to_have_attribute("data-more", "")
    assert (narrow.evaluate(arrow), narrow.evaluate(fades)) == ("none", "none")
    picture(page, "more")
    width = wide.evaluate("it => it.clientWidth")
    wide.evaluate("it => it.scrollLeft = 1e5")
    expect(wide).to_have_attribute("data-more", "left")
    assert wide.evaluate(arrow) == "none"
    assert wide.evaluate(fades).startswith(f"linear-gradient(to right, {clear},")
    assert wide.evaluate("it => it.clientWidth") == width  # the arrow takes no room
    expect(page.locator(".table > .scroll[data-more~=right]").first).to_be_visible()


def test_an_equation_may_be_as_wide_as_code(opened: Open) -> None:
    page = opened().open("everything.html")
    widths = "it => it.getBoundingClientRect().width"
    code = page.locator("article > .code").first.evaluate(widths)
    assert page.locator("#eq-wide").evaluate(widths) == code
    assert page.locator("article > p").first.evaluate(widths) < code


def test_a_figure_suits_a_dark_page(opened: Open) -> None:
    style = "it => getComputedStyle(it).filter"
    page = opened(dark=True).open("outputs.html")
    figure = page.locator("img.plot").first
    turned = f"invert({night.INVERTED}) hue-rotate(180deg) brightness({night.BRIGHTER})"
    assert figure.evaluate(style) == turned  # as figures with a ramp are turned
    page.get_by_role("button", name="Color theme").click()  # light
    assert figure.evaluate(style) == "none"
    page.get_by_role("button", name="Color theme").click()  # dark
    assert figure.evaluate(style) == turned
    page.emulate_media(media="print")
    assert figure.evaluate(style) == "none"
    assert opened().open("outputs.html").locator("img.plot").first.evaluate(style) == "none"


def test_the_search_finds_truncation(opened: Open) -> None:
    it = opened()
    page = it.open("everything.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("truncation")
    option = page.get_by_role("option")
    expect(option).to_have_count(1)
    expect(option).to_contain_text("Far away")
    expect(option.locator("mark")).to_have_text("Truncation")
    expect(page.get_by_role("group", name="Chapter 02: Second")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="1 section on 1 page")).to_be_visible()
    box = page.get_by_role("combobox")
    expect(box).to_have_attribute("aria-expanded", "true")
    assert box.get_attribute("aria-activedescendant") == option.get_attribute("id")
    picture(page, "search")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/second\.html#far$"))
    assert it.is_quiet(), it


def test_the_search_forgives_and_answers_keys(opened: Open) -> None:
    page = opened().open("second.html")
    page.keyboard.press("/")
    page.keyboard.type("trunkation")
    expect(page.get_by_role("option")).to_contain_text(["Far away"])
    box = page.get_by_role("combobox")
    box.fill("text")
    options = page.get_by_role("option")
    expect(options).not_to_have_count(1)
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    box.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == options.nth(1).get_attribute("id")
    box.press("ArrowUp")
    box.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    box.fill("zzzzzz")
    expect(page.get_by_text("Nothing found for “zzzzzz”.")).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "false")
    box.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_crafted_word_is_text_in_the_results(opened: Open) -> None:
    it = opened()
    page = it.open("second.html")
    page.keyboard.press("/")
    for words in ("return", "return x"):  # it stands after the last mark, and between two
        page.get_by_role("combobox").fill(words)
        expect(page.get_by_role("option").filter(has_text='"<b>"')).to_have_count(1)
    assert page.locator(".search b").count() == 0


def test_light_and_dark_are_remembered(opened: Open) -> None:
    it = opened(dark=True)
    page = it.open("second.html")
    back = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(back)
    button = page.get_by_role("button", name="Color theme")
    expect(button).to_have_accessible_name("Color theme: automatic")
    button.click()
    expect(button).to_have_accessible_name("Color theme: light")
    light = page.evaluate(back)
    assert (dark, light) == ("rgb(20, 23, 28)", "rgb(255, 255, 255)")
    other = page.context.new_page()  # what a page stores reaches the next one's process in time
    other.goto(page.url)
    other.wait_for_function("localStorage.getItem('lmcourse-theme') === 'light'")
    it.page.add_init_script(
        "new MutationObserver(() => window.first ??= document.body"
        " && (document.documentElement.dataset.theme ?? 'auto'))"
        ".observe(document, {childList: true, subtree: true})"
    )
    it.open("everything.html")
    assert page.evaluate("window.first") == "light"  # before anything of the body was drawn
    assert page.evaluate(back) == light
    button.click()
    assert page.evaluate(back) == dark
    button.click()
    expect(button).to_have_accessible_name("Color theme: automatic")
    other.wait_for_function("localStorage.getItem('lmcourse-theme') === null")
    it.open("second.html")
    expect(button).to_have_accessible_name("Color theme: automatic")


def test_the_theme_works_where_storage_is_denied(opened: Open) -> None:
    it = opened()
    it.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})"
    )
    page = it.open("second.html")
    button = page.get_by_role("button", name="Color theme")
    button.click()
    button.click()
    expect(button).to_have_accessible_name("Color theme: dark")
    assert it.is_quiet(), it


def test_the_drawer_by_keyboard(opened: Open) -> None:
    page = opened(width=390, height=844).open("second.html")
    button, contents = (
        page.get_by_role("button", name="Contents", exact=True),
        page.locator("nav#contents"),
    )
    expect(contents).to_be_hidden()
    button.press("Enter")
    expect(contents).to_be_visible()
    picture(page, "drawer")
    close = page.get_by_role("button", name="Close the contents")
    expect(close).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="The course")).to_be_focused()
    for _ in range(8):  # what lies under the drawer cannot be reached
        page.keyboard.press("Tab")
        inside = "!document.activeElement.closest('main, .topbar')"
        assert page.evaluate(inside)
    page.locator("nav#contents a").first.focus()
    page.keyboard.press("Escape")
    expect(contents).to_be_hidden()
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")


def test_the_drawer_by_touch(opened: Open) -> None:
    it = opened(width=390, height=844, has_touch=True, is_mobile=True)
    page = it.open("second.html")
    button, contents = page.locator("button.menu"), page.locator("nav#contents")
    button.tap()
    expect(contents).to_be_visible()
    page.touchscreen.tap(380, 600)  # beside it
    expect(contents).to_be_hidden()
    button.tap()
    page.get_by_role("link", name="Everything").tap()
    expect(page).to_have_url(re.compile(r"/everything\.html$"))
    for target in page.locator(".topbar button:visible").all():
        box = target.bounding_box()
        assert box is not None and min(box["width"], box["height"]) >= 44


def test_arrow_keys_turn_no_page(opened: Open) -> None:
    page = opened().open("outputs.html")
    for key in ("ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    page.wait_for_timeout(200)
    expect(page).to_have_url(re.compile(r"/outputs\.html$"))


def test_paper_is_light_and_shows_what_is_folded(opened: Open) -> None:
    page = opened(dark=True).open("everything.html")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print", color_scheme="dark")
    color = "getComputedStyle(document.body).color"
    assert page.evaluate(color) == "rgb(29, 36, 43)"
    for hidden in (".topbar", ".contents", ".here", ".turn", ".copy", ".tab-list"):
        expect(page.locator(hidden).first).to_be_hidden()
    answer = page.locator("details.answer .box-body")
    closed = page.locator("main details:not([open])")
    assert closed.count() > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(answer).to_be_visible()
    expect(closed).to_have_count(0)
    expect(page.get_by_text("Second tab.")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(closed).not_to_have_count(0)
    after = "getComputedStyle(document.querySelector('main a.external'), '::after').content"
    assert "https://example.org/" in page.evaluate(after)


def test_code_that_is_folded_away_stays_so_on_paper(opened: Open) -> None:
    page = opened().open("outputs.html")
    page.emulate_media(media="print")
    closed = page.locator("main details.folded:not([open])")
    folded = closed.count()
    assert folded > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(closed).to_have_count(folded)


@pytest.mark.parametrize(
    ("dark", "width"), [(False, 1280), (True, 390)], ids=["light-wide", "dark-phone"]
)
@pytest.mark.parametrize("name", PAGES[:-1])
def test_axe_finds_nothing_serious(opened: Open, name: str, dark: bool, width: int) -> None:
    page = opened(dark=dark, width=width).open(name)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert axe(page) == []
    picture(page, f"{name}-{'dark' if dark else 'light'}-{width}")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_in_search_and_drawer(opened: Open, dark: bool) -> None:
    page = opened(dark=dark, width=390).open("second.html")
    page.locator("button.menu").click()
    assert axe(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("trunc")
    expect(page.get_by_role("option")).to_have_count(1)
    assert axe(page) == []


@pytest.mark.parametrize("name", PAGES[:-1])
def test_no_page_scrolls_sideways(opened: Open, name: str) -> None:
    page = opened(width=360).open(name)
    assert overflow(page) == 0


def test_what_scrolls_can_be_reached_and_only_that(opened: Open) -> None:
    page = opened(width=360).open("outputs.html")
    wide = page.locator("pre.scroll", has_text="line 0 yyy")
    expect(wide).to_have_attribute("tabindex", "0")
    expect(wide).to_have_accessible_name("Output, scrolls")
    expect(page.locator("pre.scroll", has_text="print(1)")).not_to_have_attribute("tabindex", "0")
    wide.focus()
    page.keyboard.press("End")
    page.wait_for_function("document.activeElement.scrollTop > 100")


def test_without_scripts_all_can_be_read(opened: Open) -> None:
    page = opened(width=390, java_script_enabled=False).open("everything.html")
    for words in ("First tab.", "Second tab.", "The caption of the"):
        expect(page.get_by_text(words)).to_be_visible()
    expect(page.locator("nav#contents")).to_be_visible()
    for dead in ("button.menu", "button.theme", ".search-open", ".close"):
        expect(page.locator(dead)).to_be_hidden()
    page.locator("details.answer > summary").click()
    expect(page.get_by_text("It is this.")).to_be_visible()


def test_code_is_copied(opened: Open, address: str) -> None:
    it = opened(permissions=["clipboard-read", "clipboard-write"])
    page = it.page
    page.goto(f"{address}/everything.html")
    code = page.locator(".code", has_text="import math")
    code.hover()
    code.get_by_role("button", name="Copy").click()
    expect(code.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "import math\nprint(math.pi)"


def test_tabs_by_keyboard(opened: Open) -> None:
    page = opened().open("everything.html")
    one, two = page.get_by_role("tab", name="One"), page.get_by_role("tab", name="Two")
    expect(page.get_by_role("tabpanel", name="One")).to_have_text("OneFirst tab.")
    expect(page.get_by_text("Second tab.")).to_be_hidden()
    one.press("ArrowRight")
    expect(two).to_be_focused()
    expect(two).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Second tab.")).to_be_visible()
    expect(page.get_by_text("First tab.")).to_be_hidden()
    expect(page.get_by_role("tab", name="Due")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Fourth tab.")).to_be_visible()
    two.press("ArrowRight")
    expect(one).to_be_focused()


def test_the_section_in_view_is_marked(opened: Open) -> None:
    page = opened(width=1440, reduced_motion="reduce").open("everything.html")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    here = page.get_by_role("navigation", name="On this page")
    link = here.get_by_role("link", name="Tables")
    link.click()
    expect(link).to_have_attribute("aria-current", "true")
    expect(here.locator("[aria-current]")).to_have_count(1)
    page.evaluate("scrollTo(0, 0)")
    expect(here.locator("[aria-current]")).to_have_count(0)


def test_a_link_into_something_folded_opens_it(opened: Open) -> None:
    page = opened().open("everything.html#solution-one")
    expect(page.locator("details#solution-one")).to_have_attribute("open", "")
    expect(page.get_by_text("Done.")).to_be_visible()


def test_a_widgets_module_runs_from_a_disk(opened: Open) -> None:
    it = opened()
    page = it.open("outputs.html")
    assert "Alive" in WIDGET
    expect(page.get_by_role("button", name="Alive")).to_be_visible()
    expect(page.get_by_text("Words in place of the widget.")).to_have_count(0)
    style = "getComputedStyle(document.querySelector('.output svg text'))"
    assert page.evaluate(f"[{style}.stroke, {style}.fill]") == ["none", "rgb(0, 0, 0)"]
    assert it.is_quiet(), it


def test_the_skip_link(opened: Open) -> None:
    page = opened().open("second.html")
    for _ in range(3):  # a busy machine once lost a page's very first key
        page.keyboard.press("Tab")
        with suppress(TimeoutError):
            page.wait_for_function("document.activeElement !== document.body", timeout=5000)
            break
    skip = page.get_by_role("link", name="Skip to the text")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
