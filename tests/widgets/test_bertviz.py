"""bertviz as the course ships it: offline, framed, with tokens that stay text."""

import builtins
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Frame, Page, expect

from lmcourse.errors import CourseError
from lmcourse.widgets.bertviz import head_view, model_view
from lmcourse.widgets.bertviz_page import LIBRARIES, BertViz, framed
from tests.browser import picture
from tests.widgets.hosts import axe, open_file, overflow
from tests.widgets.strings import HOSTILE

TOKENS = ["[CLS]", "the", "soup", "was", "cold", "[SEP]"]
VIEWS = (head_view, model_view)


def weights(queries: int = 6, keys: int = 6, layers: int = 2, heads: int = 3) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    return [
        torch.randn(1, heads, queries, keys, generator=random).mul(3).softmax(-1)
        for _ in range(layers)
    ]


def inside(page: Page) -> Frame:
    """The frame, once it has drawn."""
    page.locator("iframe").wait_for()
    frame = page.frames[-1]
    frame.wait_for_selector("#vis svg line", state="attached")
    return frame


@pytest.mark.parametrize("view", VIEWS)
def test_it_is_a_page_that_asks_nobody(view, browser: Browser, tmp_path: Path):
    made = view(weights(), TOKENS)
    path = tmp_path / "view.html"
    made.save(path)
    for width, dark in ((1000, False), (390, True), (360, False)):
        with open_file(browser, path, dark=dark, width=width) as it:
            frame = inside(it.page)
            assert not [url for url in it.requests if not url.startswith("about:srcdoc")]
            assert it.errors == [] and overflow(it.page) == 0
            assert frame.evaluate("getComputedStyle(document.documentElement).backgroundColor") == (
                "rgb(255, 255, 255)"
            )
            assert uncut(frame) == []
            picture(it.page, f"bertviz-{view.__name__}-{width}")
            if width == 1000:
                assert axe(it.page) == []  # slow: it waits for a frame that is mute
            expect(it.page.locator("iframe")).to_have_attribute(
                "title", re.compile("2 layers, 3 h")
            )


def test_the_frame_may_load_nothing(browser: Browser, tmp_path: Path):
    path = tmp_path / "view.html"
    head_view(weights(), TOKENS).save(path)
    with open_file(browser, path) as it:
        frame = inside(it.page)
        before = len(it.requests)
        frame.evaluate(
            """(url) => {
                const image = new Image(), font = new FontFace("x", `url(${url})`);
                image.src = url;
                document.body.style.background = `url(${url})`;
                return Promise.allSettled([image.decode(), font.load(), fetch(url)]);
            }""",
            "https://example.org/a.png",
        )
        assert it.requests[before:] == []
        assert it.errors and all("Content Security Policy" in line for line in it.errors)


@pytest.mark.parametrize("view", VIEWS)
def test_it_says_that_keys_do_not_reach_it(view, browser: Browser, tmp_path: Path):
    made = view(weights(), TOKENS)
    path = tmp_path / "view.html"
    made.save(path)
    said = "By pointer only; AttentionHeads also has keys."
    assert made.alt.endswith(said)
    with open_file(browser, path) as it:
        expect(inside(it.page).locator("#words")).to_contain_text(said)


def uncut(frame: Frame) -> list[Any]:
    """What is higher than the frame, or drawn beyond its own figure."""
    found: list[Any] = frame.evaluate(
        """() => {
            const root = document.documentElement, box = document.querySelector("#vis svg");
            const edge = box.getBoundingClientRect();
            const cut = [...box.querySelectorAll("text, line")].filter((it) => {
                const {left, right, top, bottom} = it.getBoundingClientRect();
                return left < edge.left - 1 || right > edge.right + 1 || top < edge.top - 1
                    || bottom > edge.bottom + 1;
            }).map((it) => it.textContent || it.outerHTML);
            return root.scrollHeight > root.clientHeight ? [...cut, "the frame"] : cut;
        }"""
    )
    return found


def test_pointing_at_a_token_shows_what_it_attends_to(browser: Browser, tmp_path: Path):
    path = tmp_path / "view.html"
    head_view(weights(), TOKENS, layer=1, heads=[0, 2]).save(path)
    with open_file(browser, path) as it:
        frame = inside(it.page)
        lines = frame.locator("#attention")
        assert frame.locator("#layer").input_value() == "1"
        assert frame.locator("#attention line").count() == 3 * 6 * 6
        frame.locator("#left text", has_text="soup").hover()
        expect(lines).to_have_attribute("visibility", "hidden")
        expect(frame.locator("#attention line[visibility=visible]")).to_have_count(3 * 6)
        frame.locator("#layer").select_option("0")
        expect(frame.locator("#attention line")).to_have_count(3 * 6 * 6)
        wanted = weights()[0][0, 0, 0].double().numpy().round(4)
        drawn = frame.locator("#attention g[head-index='0'] g").first.locator("line")
        shown = [float(line.get_attribute("stroke-opacity") or 0) * 2 for line in drawn.all()]
        assert shown == pytest.approx(wanted, abs=1e-9)  # two heads are on
        assert it.errors == []


def test_a_click_on_a_head_shows_its_tokens(browser: Browser, tmp_path: Path):
    path = tmp_path / "view.html"
    model_view(weights(), TOKENS, include_layers=[1], include_heads=[0, 2]).save(path)
    with open_file(browser, path) as it:
        frame = inside(it.page)
        assert frame.locator("#vis line").count() == 2 * 6 * 6
        x, y = frame.evaluate(
            """() => {
                const {x, y, width, height} =
                    document.querySelectorAll(".attn_background")[1].getBoundingClientRect();
                return [x + width / 2, y + height / 2];
            }"""
        )
        box = it.page.locator("iframe").bounding_box()
        it.page.mouse.click(box["x"] + 1 + x, box["y"] + 1 + y)
        expect(frame.get_by_text("Layer 1, Head 2")).to_be_visible()
        expect(frame.locator("text.token")).to_have_text([*TOKENS, *TOKENS])
        assert uncut(frame) == [] and it.errors == []


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_tokens_stay_text(view, browser: Browser, tmp_path: Path):
    count = len(HOSTILE)
    path = tmp_path / "view.html"
    view(weights(count, count, 2, 2), HOSTILE).save(path)
    with open_file(browser, path) as it:
        frame = inside(it.page)
        assert frame.evaluate("typeof executed") == "undefined"
        assert it.page.evaluate("typeof executed") == "undefined"
        assert frame.locator("img").count() == 0 and it.errors == []
        if view is head_view:
            shown = frame.locator("#left text").all_text_contents()
            assert shown[0] == "</script><img␣s…" and shown[7] == "∅" and "⟨200B⟩" in shown
            for layer in ("0", "1"):  # each is drawn anew
                frame.locator("#layer").select_option(layer)
                frame.wait_for_timeout(50)
                assert uncut(frame) == []


@pytest.mark.parametrize("view", VIEWS)
def test_exported_html_lives_from_disk(view, browser: Browser, tmp_path: Path):
    data = view(weights(), TOKENS)._repr_mimebundle_()
    assert set(data) == {"text/html", "text/plain"}
    output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
    cell = nbformat.v4.new_code_cell("view", outputs=[output])
    offline = {"require_js_url": "", "mathjax_url": "", "jquery_url": "", "mermaid_js_url": ""}
    notebook = nbformat.v4.new_notebook(cells=[cell])
    path = tmp_path / "exported.html"
    path.write_text(HTMLExporter(**offline).from_notebook_node(notebook)[0], encoding="utf-8")
    with open_file(browser, path) as it:
        assert uncut(inside(it.page)) == []
        assert [url for url in it.requests if url.startswith(("http", "file"))] == []


def test_where_no_script_runs_words_stay(browser: Browser, tmp_path: Path):
    made = head_view(weights(), TOKENS)
    path = tmp_path / "view.html"
    made.save(path)
    for attempt in range(3):  # Playwright now and then loses a frame where no script runs
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(path.as_uri())
        words = page.frame_locator("iframe").get_by_text(made.alt)
        try:
            expect(words).to_be_visible(timeout=10_000)
            break
        except AssertionError:
            if attempt == 2:
                raise
        finally:
            context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_equal_views_give_equal_bytes_and_small_ones(view):
    made = view(weights(), TOKENS)
    assert made.to_html() == view([it.numpy() for it in weights()], TOKENS).to_html()
    assert made.to_html() == view(torch.stack(weights())[:, 0], TOKENS).to_html()
    assert len(made.to_html()) < 160_000
    assert made.to_html().count("srcdoc=") == 1 and "cdnjs" not in visible_part(made)
    assert repr(made).startswith("<BertViz: bertviz's ")
    assert "The largest weight on another token, " in made.alt
    other = view(weights(), TOKENS, include_layers=[1])
    assert "2 layers" in made.title and "1 layer," in other.title
    wanted = "of layer 1:" if view is head_view else "in 1 layer (rows)"
    assert wanted in other.alt and wanted not in made.alt


@pytest.mark.parametrize("view", VIEWS)
def test_what_the_words_call_the_largest_is(view):
    given = torch.stack(weights())[:, 0]
    for layer in (0, 1):
        chosen = {"include_layers": [layer]}
        others = given[layer] * (
            1 - torch.eye(len(TOKENS))
        )  # a causal model's first has but itself
        _, query, key = np.unravel_index(int(others.argmax()), others.shape)
        names = [f"“\u2068{TOKENS[it]}\u2069” ({it})" for it in (query, key)]
        said = f"weight on another token, {others.max():.2f}, goes from {names[0]} to {names[1]}."
        assert said in view(given, TOKENS, **chosen).alt
    alone = torch.eye(len(TOKENS)).expand(2, 3, -1, -1)
    assert "No token attends to another." in view(alone, TOKENS).alt


def test_numpys_whole_numbers_are_taken():
    numbers = {"layer": np.int64(1), "heads": np.array([0, 2]), "include_layers": torch.tensor([1])}
    made = head_view(weights(), TOKENS, **numbers)
    same = {"layer": 1, "heads": [0, 2], "include_layers": [1]}
    assert made.to_html() == head_view(weights(), TOKENS, **same).to_html()


def visible_part(made: BertViz) -> str:
    """What runs, without bertviz's call of a configuration that does nothing here."""
    return re.sub(r"require\.config\(\{.*?\}\);", "", made.document, flags=re.DOTALL)


def test_the_libraries_have_all_that_bertviz_asks_for():
    folder = Path(importlib.util.find_spec("bertviz").origin).parent
    text = "".join((folder / f"{name}.js").read_text() for name in ("head_view", "model_view"))
    text = re.sub(r"'https?://[^']*'", "", text)
    source = Path(__file__).parents[2] / "web" / "vendor" / "bertviz.js"
    (has,) = re.findall(r"d3: \{([^}]*)\}", source.read_text(encoding="utf-8"))
    asked = set(re.findall(r"\bd3\.(\w+)", text)) - {"version", "scale"}  # logged; of d3 3
    assert asked == set(has.replace(" ", "").split(","))
    assert set(re.findall(r"require(?:js)?\(\[([^\]]*)\]", text)) == {"'jquery', 'd3'"}
    kept = LIBRARIES.read_text(encoding="utf-8")
    assert "Copyright 2010-2016 Mike Bostock" in kept and "OpenJS Foundation" in kept
    assert "</script" not in kept


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: head_view(weights(), None), "tokens is None, not a list of strings"),
        (lambda: head_view(weights(), TOKENS[:5]), "tokens has 5 tokens, the arrays have 6"),
        (lambda: head_view(weights(3, 6), TOKENS), "3 queries and 6 keys. Pass self-attention"),
        (lambda: head_view(weights(), TOKENS, layer=2), "layer is 2, which is not shown"),
        (lambda: head_view(weights(), TOKENS, heads=[3]), r"heads is \[3\], but there are 3"),
        (lambda: head_view(weights(), TOKENS, heads=[0.7]), r"heads is \[0.7\], but there are 3"),
        (lambda: head_view(weights(), TOKENS, heads="0"), "heads is '0', but there are 3"),
        (lambda: head_view(weights(), TOKENS, heads=1), "heads is 1, but there are 3"),
        (lambda: model_view(weights(), TOKENS, include_heads=[]), r"include_heads is \[\]"),
        (lambda: model_view(weights(), TOKENS, include_layers="ab"), "include_layers is 'ab'"),
        (lambda: model_view([None, None], TOKENS), r'attentions\[0\] is None.*"eager"'),
        (lambda: model_view(np.ones((2, 3, 6, 6)), TOKENS), "sum to 6, not to 1"),
    ],
)
def test_what_does_not_fit_is_refused(call, says):
    with pytest.raises(CourseError, match=says) as caught:
        call()
    assert caught.value.remedy


def test_what_is_too_much_for_bertviz_is_refused():
    tokens = [str(i) for i in range(64)]
    head_view(weights(64, 64, 2, 8), tokens)
    for view in VIEWS:
        with pytest.raises(CourseError, match=r"lines at once.*or use AttentionHeads"):
            view(weights(64, 64, 12, 12), tokens)


def test_without_bertviz_the_remedy_is_told(monkeypatch):
    found = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name == "bertviz":
            raise ModuleNotFoundError("No module named 'bertviz'")
        return found(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(CourseError, match=r"could not be imported.*coursekit.install"):
        head_view(weights(), TOKENS)


def test_another_version_of_bertviz_is_noticed():
    for made in (
        "",
        '<script src="x"></script><div></div><script type="text/javascript">1</script>',
    ):
        with pytest.raises(CourseError, match="an unknown page"):
            framed(made, "title", "alt", "hint", 100)


def test_importing_the_views_imports_neither_bertviz_nor_torch():
    code = "import sys, lmcourse.widgets.bertviz; print({'torch', 'bertviz'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
