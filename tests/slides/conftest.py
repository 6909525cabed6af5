"""A small chapter with everything that a slide shows, and its deck."""

from pathlib import Path

import pytest

from coursekit.book.content import Content, Page
from coursekit.book.slides.deck import write_deck
from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow
from tests.slides import trees
from tests.slides.trees import bullets, cell, cite, equation, heading, math, p

LINES = "\n".join(f"value_{number} = compute({number})  # a comment" for number in range(24))
ANSWER = " ".join([trees.LONG] * 5)


def chapter() -> Page:
    widget = GradientFlow(random_network()).to_html()
    return trees.page(
        trees.block(p("What is a slide?"), p("You need nothing."), kind="slide"),
        trees.block(
            heading("An equation"),
            p("The state ", math("h"), ", a vector, follows ", cite("Elman (1990)", "elman1990"),
              ". It is long explained here, in more words than a slide should hold, is it not?"),
            equation("h = Wh", "1", "eq-state"),
            p("The same ", trees.reference("(1)", "eq-state"), " holds at every step."),
            kind="slide",
        ),
        cell(LINES, trees.stream("24 values"), kind="subslide", lines="1-14"),
        trees.block(heading("A figure"), kind="slide"),
        cell("draw()", trees.figure("A gray square."), hide=True, kind="-"),
        trees.block(p("The square is gray. " + trees.LONG)),
        trees.block(heading("A question"), *trees.question("Is it a mistake?", ANSWER),
                    kind="slide"),
        trees.block(heading("Step by step"), p("First this."), kind="slide"),
        trees.block(p("Then that."), kind="fragment"),
        trees.block(p("Then the rest."), kind="fragment"),
        trees.block(p("Say hello."), kind="notes"),
        trees.block(p("Nobody sees this."), kind="skip"),
        trees.block(heading("Move it"), kind="slide"),
        cell("GradientFlow(network)", trees.display(text_html=widget, text_plain="A widget."),
             hide=True, kind="-"),
        trees.block(heading("Takeaways"), bullets(*(f"{name} is short." for name in "ABCDEF")),
                    kind="slide"),
    )  # fmt: skip


@pytest.fixture(scope="session")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    return trees.book(chapter(), tmp_path_factory.mktemp("public"))


@pytest.fixture(scope="session")
def deck(content: Content, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("decks") / "a chapter.html"  # a space, as in many folders
    write_deck(content.pages[0], content, file)
    return file
