"""The rules of form that concern checks, symbols and optional sections, each seen broken."""

import pytest

from coursekit import course, form
from coursekit.form.symbols import letters
from tests.book.checkout import SmallCourse, small  # noqa: F401

CHAPTER = """\
---
kernelspec: {name: python3, display_name: Python 3, language: python}
minutes: 40
deeper: 5
question: Why?
---

# A chapter

**It takes** about 40 minutes; *Going deeper* takes 5 more. THE CORE

:::{dropdown} Symbols
| symbol | meaning |
|---|---|
| $x_t$, $h_t$ | input and state at step $t$ |
| $t$ | step |
| $W$ | weights |
:::

$$
h_t = \\tanh(W_{xh} x_t) \\qquad \\text{for all } t
$$ (eq-step)

```{code-cell} ipython3
expect("accuracy", 0.9, close_to=0.9, within=0.1, rules_out={"chance": 1 / len(classes)})
claim = finding("dynamic-masking")
display(claim)
```

+++

## Going deeper

+++

### Costs

*5 minutes*

THE SECTION

+++

## Further reading
""".replace("THE CORE", "word " * 4000).replace("THE SECTION", "word " * 500)


def found(small: SmallCourse, old: str = "", new: str = "") -> str:  # noqa: F811
    assert old in CHAPTER
    text = CHAPTER.replace(old, new, 1) if old else CHAPTER
    (small.root / "chapters" / "02-recurrent.md").write_text(text, encoding="utf-8")
    return form.report([course.chapter("02")])


RULES = (
    "rule",
    "how long",
    "constant",
    "not shown",
    "defined twice",
    "lacks",
    "optional",
    "minutes",
)


def test_what_keeps_the_rules_has_no_breach(small: SmallCourse):  # noqa: F811
    kept = found(small)
    assert not [rule for rule in RULES if rule in kept], kept


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (', rules_out={"chance": 1 / len(classes)}', "", "does not say what it rules out"),
        ("1 / len(classes)", "1 / 4", "The bound 1 / 4 of a measured check is a constant"),
        ("close_to=0.9, within=0.1", "at_least=0.5", "The bound 0.5 of a measured check is a con"),
        ("display(claim)", "print(claim.verdicts)", "A recorded result is used and not shown"),
        ("| $W$ |", "| $x_t$ |", "The symbol x_t is defined twice"),
        ("| $W$ | weights |\n", "", "Labeled equations use W, which the table"),
        (":::{dropdown} Symbols", ":::{dropdown} Names", "Labeled equations use W, h, t, x, which"),
        ("*5 minutes*", "*30 minutes*", "states 30 minutes; the estimate is 5"),
        ("*5 minutes*", "", "states None minutes; the estimate is 5"),
        ("about 40", "about 30", "Write, near the beginning: **It takes** about 40 minutes; *Go"),
        ("takes 5 more", "takes 9 more", "The text does not say how long the chapter takes"),
        ("deeper: 5\n", "", "states deeper: None; the optional sections state 5"),
        ("+++\n\n### Costs", '+++ {"slideshow": {"slide_type": "-"}}\n\n### Costs', "on slides"),
    ],
)
def test_a_broken_rule_is_found(small: SmallCourse, old, new, says):  # noqa: F811
    assert says in found(small, old, new)


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ('expect("accuracy", x, close_to=0.9, within=0.1)', "does not say what it rules out"),
        ('expect("accuracy", x, at_least=0.5, rules_out=rivals)', "The bound 0.5 of a measured"),
    ],
)
def test_a_measured_check_of_a_lab_keeps_its_rule(small: SmallCourse, check, says):  # noqa: F811
    (lab,) = course.sources("lab")
    text = lab.path.read_text(encoding="utf-8")
    assert says not in form.report([lab])
    lab.path.write_text(f"{text}\n```{{code-cell}} ipython3\n{check}\n```\n", encoding="utf-8")
    assert says in form.report([lab])


def test_letters_are_the_symbols_of_an_equation():
    tex = r"\frac{\partial L}{\partial W} = \sum_{t=1}^T e^{\delta_t} h_{t-1}^\top"
    assert letters(tex + r" \text{for } \varepsilon") == {"L", "W", "h", r"\varepsilon"}
    assert letters(r"e_i = \operatorname{softmax}(z) \mathbf{q} \lambda_x") == {
        *("e", "z", "q", r"\lambda"),
    }
