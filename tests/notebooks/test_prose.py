"""What of a Markdown text is prose, and where its sentences end."""

import pytest

from coursekit.notebooks.prose import SYMBOL, masked, replace_roles, sentence_ends


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("one `two` three", "one  three"),
        ("one ``a ` b`` three", "one  three"),
        ("one $x_t$ three, $5 and $6", "one  three, $5 and $6"),
        ("one\n\n$$\nx\n$$ (eq-x)\n\ntwo", "one\n\n\n\n (eq-x)\n\ntwo"),
        ("```{code-cell} ipython3\nx = 1\n```\ntwo", "\n\n\ntwo"),
        ("````\n```\nx\n```\n````\ntwo", "\n\n\n\n\ntwo"),
        ("---\ntitle: no\n---\ntwo", "\n\n\ntwo"),
        ("one {cite:p}`elman1990` two", "one  two"),
        ("% a comment\none <!-- and\nanother --> two", "\none \n two"),
        ("an open ` tick\n\nand ` another", "an open ` tick\n\nand ` another"),
        (":::{admonition} Question\nWhy?\n:::", ":::{admonition} Question\nWhy?\n:::"),
    ],
)
def test_what_is_not_prose_is_masked(text: str, kept: str) -> None:
    assert masked(text).replace(SYMBOL, "") == kept
    assert len(masked(text)) == len(text)


def test_roles_are_replaced_by_name_and_not_in_code() -> None:
    text = "{term}`a`, {eq}`a`, ``{term}`a` ``, {term}`b <c>`"
    assert replace_roles(text, "term", str.upper) == "A, {eq}`a`, ``{term}`a` ``, B <C>"


@pytest.mark.parametrize(
    "text",
    [
        "One. |Two? |Three.",
        "See Fig. 3, i.e. the plot (it is wide. It is high.) here. |Then.",
        "By A. Turing et al. in 1950. |Then",
    ],
)
def test_sentences(text: str) -> None:
    parts, whole, begin = [], text.replace("|", ""), 0
    for end in sentence_ends(whole):
        parts.append(whole[begin:end])
        begin = end
    assert parts == text.split("|")
