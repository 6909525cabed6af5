"""The base class: three forms, packed arrays, errors that say what to do."""

import base64
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
import traitlets

from lmcourse.errors import CourseError
from lmcourse.evaluation.gradient_flow import gradient_flow, random_network
from lmcourse.widgets import GradientFlow, Widget
from lmcourse.widgets.base import Manager, module
from lmcourse.widgets.packing import as_array, pack

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Labels(Widget):
    """The least widget: labels, and one array."""

    _esm = module("gradient_flow")
    title = "Labels <of> & all"
    lighter = "Show fewer labels."
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)

    @property
    def alt(self) -> str:
        return f"{len(self.labels)} labels: {', '.join(self.labels)}"


HOSTILE = ["</script><script>window.hit=1</script>", "<!--", '"\\', "∂\u2028"]


def payload(html: str) -> dict:
    """What the page's script gets, read back from the HTML."""
    text = html[html.index('({"key"') + 1 :]
    literal, state = re.match(r'(.*?"state": )JSON\.parse\(("(?:[^"\\]|\\.)*")\)}\)', text).groups()
    return {**json.loads(literal + "0}"), "state": json.loads(json.loads(state))}


def test_three_forms_go_out(widget):
    data, _metadata = widget._repr_mimebundle_()
    assert set(data) == {WIDGET_VIEW, "text/html", "text/plain"}
    assert data["text/plain"] == widget.alt and data["text/html"] == widget.to_html()
    assert data[WIDGET_VIEW]["model_id"] == widget.model_id


def test_a_jupyter_server_gets_the_html_with_the_models_id(widget, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "notebook.ipynb")
    data, _metadata = widget._repr_mimebundle_()
    assert set(data) == {"text/html", "text/plain"}
    assert payload(data["text/html"])["id"] == widget.model_id
    assert payload(widget.to_html())["id"] == ""
    manager = Manager.only
    widget._repr_mimebundle_()
    assert Manager.only is manager
    manager.close()
    widget._repr_mimebundle_()
    assert Manager.only is not manager


def test_the_html_is_one_element_and_one_script_with_everything_in_it(widget):
    html = widget.to_html()
    assert re.fullmatch(
        r'<div class="lmcourse-widget tex2jax_ignore mathjax_ignore" '
        r'data-lmcourse-widget="GradientFlow-[0-9a-f]{16}">'
        r"<p>[^<]+</p></div>"
        r'<script type="module">.*</script>',
        html,
        re.DOTALL,
    )
    assert html.count("<script") == html.count("</script") == 1
    found = payload(html)
    assert found["state"] == widget.state() and found["module"] == str(widget._esm)
    assert not re.search(r'(?:src|href)="|https?://(?!www\.w3\.org/2000/svg)', html)


def test_equal_widgets_give_equal_bytes_and_others_another_key(widget):
    same = GradientFlow(random_network(time=20, width=8))
    assert same.to_html() == widget.to_html()
    other = GradientFlow(random_network(time=20, width=8), step=3)
    assert payload(other.to_html())["key"] != payload(widget.to_html())["key"]


def test_labels_are_inert():
    html = Labels(labels=HOSTILE).to_html()
    assert html.count("</script") == 1 and "<!--" not in html
    assert payload(html)["state"]["labels"] == HOSTILE
    assert "&lt;/script&gt;" in html[: html.index("</p>")]


def test_the_name_of_a_widgets_class_is_inert():
    name = '"><script>window.hit=1</script>'
    html = type(name, (Labels,), {})(labels=["a"]).to_html()
    assert html.count("<script") == html.count("</script") == 1
    assert payload(html)["key"].startswith(name)


def test_the_alt_text_follows_the_settings(widget):
    assert "loss at step 20" in widget.alt and "not truncated" in widget.alt
    widget.truncation, widget.step, widget.activation = 3, 7, "relu"
    assert "loss at step 7" in widget.alt and "truncated after 3 steps" in widget.alt
    assert "activation relu" in widget.alt
    with pytest.raises(NotImplementedError):
        _ = Widget().alt


def test_a_page_is_saved_whole(widget, tmp_path):
    path = tmp_path / "flow.html"
    widget.save(path)
    text = path.read_bytes().decode("utf-8")
    assert text.startswith("<!doctype html>") and "<title>Gradient flow</title>" in text
    assert '<meta charset="utf-8">' in text and widget.to_html() in text
    Labels(labels=["a"]).save(str(path))
    assert "<title>Labels &lt;of&gt; &amp; all</title>" in path.read_text(encoding="utf-8")
    assert [it.name for it in tmp_path.iterdir()] == ["flow.html"]


@pytest.mark.parametrize(
    ("name", "says"),
    [("no/such/flow.html", r"no folder .*no.such\. Make it first"), ("", r"is a folder\. Name a")],
)
def test_a_path_that_cannot_be_written(name, says, widget, tmp_path):
    with pytest.raises(CourseError, match=says):
        widget.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_loses_nothing(widget, tmp_path, monkeypatch):
    path = tmp_path / "flow.html"
    widget.save(path)
    before = path.read_bytes()

    def full(_file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CourseError, match=r"disk is full.*Free some space"):
        widget.save(path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_a_file_of_yours_is_never_replaced(widget, tmp_path):
    path = tmp_path / "thesis.html"
    path.write_text("<!doctype html>A thesis")
    with pytest.raises(CourseError, match=r"did not write.*Choose another name"):
        widget.save(path)
    assert path.read_text() == "<!doctype html>A thesis"


def test_arrays_are_packed_one_after_the_other():
    numbers = np.arange(6, dtype=np.float64).reshape(2, 3)
    packed, index = pack({"bytes": np.array([7, 255], np.uint8), "floats": numbers.T})
    assert index == {
        "bytes": {"dtype": "uint8", "shape": [2], "offset": 0},
        "floats": {"dtype": "float32", "shape": [3, 2], "offset": 2},
    }
    assert packed[:2] == b"\x07\xff"
    assert np.frombuffer(packed[2:], "<f4").tolist() == [0, 3, 1, 4, 2, 5]


def test_state_is_ready_for_json(widget):
    state = widget.state()
    assert base64.b64decode(state["arrays"]) == widget.arrays
    names = {"spectral_radius", "activation", "forget_bias", "truncation", "clip", "step"}
    names |= {"before"}
    assert set(state) == {"arrays", "index"} | names
    json.dumps(state, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.zeros((2, 3)), r"x has the shape \(2, 3\), not \(…, 4\)"),
        (np.zeros(4), r"x has the shape \(4,\), not \(…, 4\)"),
        (np.zeros((0, 4)), r"x has the shape \(0, 4\)"),
        ([[1, 2, 3, float("nan")]], r"x has numbers that are not finite"),
        (torch.full((1, 4), torch.inf), r"x has numbers that are not finite"),
        ([["a"] * 4], r"x is not an array of real numbers"),
        ([[1], [2, 3]], r"x is not an array of real numbers"),
        (np.zeros((1, 4), complex), r"x is not an array of real numbers"),
        (None, r"x is not an array of real numbers"),
    ],
)
def test_an_array_that_does_not_fit_is_named(value, says):
    with pytest.raises(CourseError, match=says) as caught:
        as_array("x", value, (None, 4))
    assert caught.value.remedy


def test_tensors_are_taken_with_gradients_and_in_any_precision():
    for dtype in (torch.float64, torch.float16, torch.int64):
        tensor = torch.ones(2, 4, dtype=dtype)
        tensor.requires_grad_(dtype.is_floating_point)
        assert as_array("x", tensor, (2, 4)).tolist() == [[1] * 4] * 2
    bfloat = torch.ones(2, 4, dtype=torch.bfloat16)
    assert as_array("x", bfloat, (2, 4)).tolist() == [[1] * 4] * 2


def test_what_float32_cannot_hold_is_named():
    with pytest.raises(CourseError, match="x has numbers too large for float32"):
        pack({"x": np.array([1e39])})


def test_too_much_data_is_refused_with_the_remedy():
    Labels(**Labels.hold({"x": np.zeros(1_000_000)}))
    with pytest.raises(CourseError, match=r"Labels take 4\.0 MB.*can hold 4 MB.*Show fewer labels"):
        Labels.hold({"x": np.zeros(1_000_001)})


def test_a_widget_imports_no_torch():
    code = (
        "import sys, lmcourse.widgets; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


def test_a_widget_itself_may_bring_other_data():
    made = Labels(**Labels.hold({"x": np.zeros(3)}), labels=["a"])
    other = Labels.hold({"x": np.ones(2)})
    made.renew(**other)
    assert made.arrays == other["arrays"] and made.index == other["index"]
    with pytest.raises(CourseError, match=r"cannot change.*Make a new widget: Labels\("):
        made.arrays = b""
    with pytest.raises(CourseError, match=r"labels is 3, not a list of strings\. Pass a list of"):
        made.renew(labels=3)
    with pytest.raises(CourseError, match="cannot change"):
        made.index = {}


# GradientFlow's own


def test_it_holds_the_network_that_the_chapter_measures(widget):
    network = random_network(time=20, width=8)
    flat = np.frombuffer(widget.arrays, "<f4")
    for kind, gates in (("RNN", 1), ("LSTM", 4), ("GRU", 3)):
        facts = widget.index[f"W_{kind}"]
        assert facts["shape"] == [gates * 8, 8]
        found = flat[facts["offset"] // 4 :][: gates * 64].reshape(gates, 8, 8).astype(float)
        radii = np.abs(np.linalg.eigvals(found)).max(-1)
        assert radii == pytest.approx(np.ones(gates), rel=1e-5)
        start = widget.index[f"U_{kind}"]["offset"] // 4
        assert (flat[start : start + gates * 64] == network.U[kind].flatten().numpy()).all()
    last = gradient_flow("RNN", 1.0, time=20, width=8)[-1].item()
    start = widget.index["read_out"]["offset"] // 4
    assert np.linalg.norm(flat[start : start + 8]) == pytest.approx(last)


def test_numpy_is_taken_as_well(widget):
    network = random_network(time=20, width=8)
    as_numpy = network._replace(
        inputs=network.inputs.numpy(),
        U={kind: matrix.numpy() for kind, matrix in network.U.items()},
    )
    assert GradientFlow(as_numpy).arrays == widget.arrays


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"inputs": torch.zeros(20)}, r"inputs has the shape \(20,\), not \(…, …\)"),
        ({"read_out": torch.zeros(7)}, r"U\['RNN'\] has the shape \(8, 8\), not \(7, 8\)"),
        ({"inputs": torch.full((20, 8), torch.nan)}, "inputs has numbers that are not finite"),
        ({"U": torch.zeros(8, 8)}, "U has no weights for the RNN. Pass RNN, LSTM, GRU in U"),
        ({"W": None}, "W has no weights for the RNN"),
        ({"U": {}}, "U has no weights for the RNN. Pass RNN, LSTM, GRU in U"),
        ({"W": {"RNN": torch.diag(torch.ones(7), -1)}}, r"W\['RNN'\] has a matrix with spectral"),
        ({"inputs": torch.zeros(2000, 8)}, "2000 steps of width 8 are too many .*narrower network"),
    ],
)
def test_a_network_that_does_not_fit(change, says):
    with pytest.raises(CourseError, match=says):
        GradientFlow(random_network(time=20, width=8)._replace(**change))


@pytest.mark.parametrize("network", [None, torch.nn.LSTM(2, 2), "LSTM", {"inputs": 1}])
def test_what_is_no_network(network):
    says = f"network is of type {type(network).__name__}, without inputs, read_out, U, W. Pass ran"
    with pytest.raises(CourseError, match=says):
        GradientFlow(network)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"before": 5}, "before is 5, not a list"),
        ({"spectral_radius": 0.0}, "spectral_radius is 0, not between 0.1 and 3"),
        ({"spectral_radius": float("nan")}, "spectral_radius is nan"),
        ({"activation": "sigmoid"}, "'sigmoid' is unknown. Choose one of tanh, relu, linear"),
        ({"forget_bias": 7.0}, "forget_bias is 7, not between -2 and 6"),
        ({"truncation": 0}, "truncation is 0, not between 1 and 20"),
        ({"step": 21}, "step is 21, not between 1 and 20"),
        ({"clip": 0.0}, "clip is 0, not between 0.01 and 1000"),
        ({"before": [1, "tanh", 1, None, None, 2.5]}, "step is 2.5, not an integer"),
        (
            {"before": [1.0, "tanh"]},
            "before has 2 settings, not 6. Pass spectral_radius, activation",
        ),
        (
            {"before": [9, "tanh", 1, None, None, None]},
            "spectral_radius is 9, not between 0.1 and 3",
        ),
        ({"before": [1, "tanh", "x", None, None, None]}, "forget_bias is 'x', not a number"),
    ],
)
def test_a_setting_out_of_range(setting, says):
    with pytest.raises(CourseError, match=says):
        GradientFlow(random_network(time=20, width=8), **setting)
    made = GradientFlow(random_network(time=20, width=8))
    with pytest.raises(CourseError, match=says):
        made.set_trait(*next(iter(setting.items())))


def test_the_settings_before_are_told_and_normalized(widget):
    widget.before = [0.5, "relu", 2, 20, float("inf"), 7]
    assert widget.before == [0.5, "relu", 2.0, None, None, 7]
    assert "Pale curves: spectral radius 0.5" in widget.alt and "the loss at step 7." in widget.alt
    widget.before = None
    assert "Pale" not in widget.alt


def test_infinity_is_no_clipping():
    assert GradientFlow(random_network(time=20, width=8), clip=float("inf")).clip is None
