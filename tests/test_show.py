"""Figures carry words; shown source is the module's own."""

import base64
import inspect
import io

import matplotlib.pyplot as plt
import pytest
from IPython import display as ipython_display
from PIL import Image

from lmcourse import show
from lmcourse.diagram import Diagram
from lmcourse.errors import CourseError
from lmcourse.models.recurrence import unroll
from lmcourse.models.rnn import RNN


@pytest.fixture
def displayed(monkeypatch):
    shown = []
    monkeypatch.setattr(ipython_display, "display", lambda *args, **kwargs: shown.append(args[0]))
    return shown


def test_a_figure_goes_out_in_three_forms_with_its_words(displayed):
    figure, axis = plt.subplots()
    axis.plot([1, 2])
    show.figure(figure, 'A line that rises\n from 1 to "2".')
    (forms,) = displayed
    assert 'alt="A line that rises from 1 to &quot;2&quot;."' in forms["text/html"]
    assert forms["image/png"] in forms["text/html"]
    assert forms["text/plain"] == 'A line that rises from 1 to "2".'
    assert not plt.fignum_exists(figure.number)


def test_a_caption_and_a_number_are_in_every_form(monkeypatch):
    shown = []
    monkeypatch.setattr(
        ipython_display, "display", lambda data, raw, metadata: shown.append((data, metadata))
    )
    show.figure(
        plt.figure(figsize=(6.4, 4.8), dpi=100), "A line.", "It rises\n by `2` < $x^2$.", number=3
    )
    diagram = Diagram(100, 50)
    diagram.box("$h$", 50, 25)
    show.figure(diagram, "A box.", "One state.")
    (plot, told), (drawing, about) = shown
    assert (
        "<figcaption><b>Figure 3.</b> It rises by <code>2</code> &lt; $x^2$." in plot["text/html"]
    )
    assert plot["text/plain"] == "Figure 3. It rises by `2` < $x^2$. A line."
    assert told == {
        "image/png": {
            "alt": "A line.",
            "title": "Figure 3",
            "caption": "It rises by `2` < $x^2$.",
            "smallest": "0.0",  # pixels; it has no text
            "width": 640,
            "height": 480,
        }
    }
    assert 'width="640" src="' in plot["text/html"]
    with Image.open(io.BytesIO(base64.b64decode(plot["image/png"]))) as image:
        assert image.size == (2 * 640, 2 * 480)  # sharp on phones and projectors
    assert drawing["image/svg+xml"] == diagram.svg()
    assert "<figcaption>One state.</figcaption>" in drawing["text/html"]
    assert about["image/svg+xml"] == {
        "alt": "A box.",
        "title": "",
        "caption": "One state.",
        "smallest": "15.0",
    }


def test_a_figure_without_words_is_refused(displayed):
    with pytest.raises(CourseError, match="no alternative text"):
        show.figure(plt.figure(), " ")
    assert not displayed


def test_source_is_read_from_the_module(displayed):
    show.source(RNN.forward)
    text = displayed[0].data
    assert text.startswith("# lmcourse/models/rnn.py\ndef forward(") and "return " in text


def test_source_in_brief_keeps_the_first_line_of_the_docstring(displayed):
    show.source(unroll, brief=True)
    show.source(RNN.input_size.fget, brief=True)
    text, bare = (code.data for code in displayed)
    assert '"""Apply the steps t = 0, 1, …, one by one."""\n' in text and "Args:" not in text
    assert "for t, projected_t in enumerate(projected.unbind(1)):" in text
    whole = inspect.getsource(unroll).splitlines()
    assert set(text.splitlines()[1:]) - set(whole) == {
        '    """Apply the steps t = 0, 1, …, one by one."""'
    }
    assert bare.endswith("return self.U.shape[1]\n")  # one that has no docstring
