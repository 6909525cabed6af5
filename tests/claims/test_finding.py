"""What was found of a claim: its numbers, its forms, its file and the page."""

from html.parser import HTMLParser

import pytest

from lmcourse.errors import CourseError
from lmcourse.findings import kept, setup
from lmcourse.findings.finding import Claimed, Finding, Limit, Part, said
from research.claims import results, table
from research.claims.page import in_markdown, page
from research.claims.scale import SCALE

RUN = {
    "name": "bert",
    "recipe": {
        "model": "lmcourse.models.bert.BertForMaskedLM",
        "settings": {
            "hidden_size": 64,
            "num_hidden_layers": 2,
            "max_position_embeddings": 448,
        },
        "budget": {
            "reviews": 400,
            "batch_size": 5,
            "learning_rate": 0.002,
            "matrix_rate": None,
        },
        "masks": {"rate": 0.3, "masked": 0.8, "random": 0.1, "select": "tokens"},
    },
    "source": None,
    "parameters": 230_555,
    "seed": 0,
    "steps": 4000,
    "wall_seconds": 120.0,
    "scores": {},
    "measured_seconds": {},
    "machine": {"device": "cpu", "threads": 1, "python": "3", "pytorch": "2", "lmcourse": "0"},
}


def made(**changes):
    """A finding with made-up scores."""
    given = {
        "name": "masks",
        "says": "Fresh masks <are> better",
        "key": "liu2019",
        "where": "section 4.1",
        "chapter": "12",
        "note": "A note.",
        "seeds": [0, 1, 2],
        "parts": [
            Part("fresh", "drawn anew", {"gap": [0.30, 0.31, 0.29], "size": [2.0, 2.0, 2.0]}),
            Part("fixed", "drawn once", {"gap": [0.50, 0.52, 0.51]}),
        ],
        "columns": {
            "gap": Limit("gap, nats", "less", 3, 0.0),
            "size": Limit("size", "more", 1),
        },
        "contrasts": [Claimed("fresh", "fixed", "gap", 0.05, 1.0, "better")],
        "world": "w",
        "runs": {"d": RUN, "teacher": {**RUN, "steps": 0, "wall_seconds": 0.0}},
    }
    return Finding(**given | changes)


def test_less_is_better_where_the_column_says_so():
    found = made()
    (claimed,) = found.contrasts
    assert found.difference(claimed).values == pytest.approx((0.20, 0.21, 0.22))
    assert found.verdicts == ["supported"]
    other = made(columns={**found.columns, "gap": Limit("gap", "more", 3)})
    assert other.verdicts == ["contradicted"]


def test_a_side_may_be_a_number_and_a_multiple():
    found = made()
    assert found.difference(Claimed("fresh", 0.4, "gap", 0.05, 1.0, "better")).mean == (
        pytest.approx(0.1)
    )
    assert found.difference(Claimed("fresh", "fixed", "gap", 0.05, 0.5, "better")).mean == (
        pytest.approx(0.5 * 0.51 - 0.30)
    )


def test_all_forms_have_the_same_numbers_and_the_verdict():
    found = made()
    for form in (repr(found), in_markdown(found), found._repr_html_()):
        for told in (
            "0.300 ± 0.010",
            "0.510 ± 0.010",
            "2.0 ± 0.0",
            "best possible",
            ": supported.",
        ):
            assert told in form
    assert found.rows()[1][-1] == ["best possible", "0.000", ""]
    assert "Fresh masks <are>" in repr(found)


@pytest.mark.parametrize(
    ("better", "claimed", "told"),
    [
        ("less", "better", "Gap: fresh < fixed"),
        ("more", "better", "Gap: fresh > fixed"),
        ("less", "no worse", "Gap: fresh ≤ fixed + 0.05"),
        ("more", "no worse", "Gap: fresh ≥ fixed − 0.05"),
        ("less", "equal", "Gap: fresh = fixed ± 0.05"),
    ],
)
def test_what_is_claimed_is_told_by_what_is_compared(better, claimed, told):
    columns = {"gap": Limit("gap, nats", better, 3)}
    assert said(Claimed("fresh", "fixed", "gap", 0.05, 1.0, claimed), columns) == told
    assert said(Claimed("fresh", 0.4, "gap", 0.05, 1.0, "better"), columns).endswith(" 0.4")
    assert said(Claimed("fresh", "fixed", "gap", 0.05, 0.5, "better"), columns).endswith(
        " 0.5 × fixed"
    )


def test_the_setup_has_what_the_runs_share_and_what_differs():
    questions = {
        **RUN,
        "name": "questions",
        "source": "d",
        "recipe": {**RUN["recipe"], "model": "lmcourse.models.bert_tasks.BertForQuestionAnswering",
                   "settings": {}},
    }  # fmt: skip
    (line,) = made().setup()
    assert line == (
        "Setup. Model: BertForMaskedLM, 2 layers, width 64, 230,555 parameters; "
        "data: 400 BookWorld reviews; updates: 4,000 of 5 examples, rate 0.002; "
        "predicted: 30% of the tokens, 80% [MASK], 10% random, 10% unchanged; "
        "positions: absolute; start: random weights; seeds: 0, 1, 2."
    )
    shared, *own = made(runs={"d": RUN, "q": questions}).setup()
    assert "positions: absolute" in shared and "Model" not in shared
    assert own[1] == (
        "“questions”. Model: BertForQuestionAnswering, 230,555 parameters; predicted: start and "
        "end of an answer; start: “bert”."
    )
    for form in (repr(made()), in_markdown(made()), made()._repr_html_()):
        assert line in form


@pytest.mark.parametrize("path", sorted(kept.shelf().glob("*.json")), ids=lambda path: path.stem)
def test_a_kept_finding_states_its_whole_setup(path):
    found = kept.finding(path.stem)
    lines = " ".join(found.setup()).lower()
    for fact in (*setup.FACTS, "seeds"):
        assert f"{fact}: " in lines
    assert found.setup()[0].endswith(f"{', '.join(map(str, found.seeds))}.")


def test_the_paper_is_told_by_its_authors():
    assert "(Liu et al., 2019, section 4.1)" in made().caption()


def test_html_is_whole_and_escapes_what_it_is_given():
    opened = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Reader().feed(made()._repr_html_())
    assert not opened and "&lt;are&gt;" in made()._repr_html_()


def test_a_finding_is_the_same_once_it_is_read_back(tmp_path):
    found = made()
    results.write(found, tmp_path)
    assert kept.finding("masks", tmp_path) == found


def test_a_finding_that_json_cannot_hold_is_refused(tmp_path):
    with pytest.raises(CourseError, match="not the same once it is read back"):
        results.write(made(runs={"d": {"seconds": float("nan")}}), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_claim_without_finding_says_how_to_come_by_one(tmp_path):
    results.write(made(), tmp_path)
    with pytest.raises(CourseError, match="nothing was found yet") as caught:
        kept.finding("spans", tmp_path)
    assert "lmcourse claims spans" in caught.value.remedy and "masks" in caught.value.remedy


def test_a_damaged_finding_is_told(tmp_path):
    results.write(made(), tmp_path).write_text("{")
    with pytest.raises(CourseError, match="cannot be read"):
        kept.finding("masks", tmp_path)


@pytest.mark.parametrize(("variant", "column"), [("none", "gap"), ("fixed", "size")])
def test_what_is_not_there_is_told_with_what_is(variant, column):
    with pytest.raises(CourseError, match="has no") as caught:
        made().mean(variant, column)
    assert "gap" in caught.value.remedy or "fresh" in caught.value.remedy


def test_the_page_says_the_scale_first_and_has_every_claim(tmp_path):
    second = made(name="order", contrasts=[Claimed("fresh", "fixed", "gap", 0.5, 1.0, "equal")])
    for one in (made(), second):
        results.write(one, tmp_path)
    written = results.write_page(tmp_path).read_text()
    assert written == page([made(), second])
    assert 0 < written.index(SCALE) < written.index("| [masks](#masks) | 12 |")
    assert "## masks" in written and "## order" in written
    assert "1 run of 2.0 minutes" in written
    assert "| +0.210 [+0.185, +0.235] | supported |" in written


def test_without_findings_the_page_says_so(tmp_path):
    assert "No claim was tested yet." in results.write_page(tmp_path).read_text()


def test_the_courses_page_is_made_of_the_findings_beside_it():
    shelf = kept.shelf()
    found = [kept.finding(path.stem, shelf) for path in sorted(shelf.glob("*.json"))]
    assert (shelf / results.PAGE).read_text() == page(found), "run `python -m data.models`"
    assert {one.name for one in found} <= set(table.CLAIMS)
    assert all(len(one.seeds) >= 3 for one in found)
