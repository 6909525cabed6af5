"""Map: word vectors in a plane, and their neighbors and analogies in the full width."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, shown, within
from lmcourse.widgets.packing import Array, as_array
from lmcourse.widgets.tokens import as_tokens, visible

MOST_WORDS, MOST_GROUPS, NEIGHBORS = 5_000, 8, 10


class Map(Widget):
    """Word vectors as a map: a projection by PCA, neighbors by cosine, analogies by offset.

    Every vector counts with length one. The map shows the two directions of largest variance;
    neighbors and the answers of analogies are computed in the full width. The page holds each
    vector in one byte per number, which changes a cosine by less than 0.01.

    Args:
        words: each word once, the most frequent first: labels are placed in this order.
        vectors: (words, width).
        query: the word whose neighbors are shown; None: the first word.
        analogy: a, b, c of the question "a is to b as c is to what?", whose answer is the word
            nearest to b − a + c; None: the first three words.
        groups: names of groups for some of the words; eight groups at most, marked by shape.
        title: what the vectors are.
        show: "neighbors" or "analogy"; None: the analogy if one is given.
        with_queries: whether the three words of an analogy may be its answer.
        plane: "all", of all words, or "chosen", of the listed words or the analogy's four alone.
        center: the middle of the window, in the plane's coordinates; None: of all words.
        zoom: from 1 to 64.
    """

    _esm = module("map")
    lighter: ClassVar[str] = "Pass fewer words, such as words[:2000] and vectors[:2000]."

    title = traitlets.Unicode().tag(sync=True, data=True)
    words = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    group_names = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    show = traitlets.Unicode("neighbors").tag(sync=True)
    query = traitlets.Unicode().tag(sync=True)
    analogy = traitlets.List(traitlets.Unicode()).tag(sync=True)
    with_queries = traitlets.Bool(False).tag(sync=True)
    plane = traitlets.Unicode("all").tag(sync=True)
    center = traitlets.List(traitlets.Float(), None, allow_none=True).tag(sync=True)
    zoom = traitlets.Float(1.0).tag(sync=True)

    def __init__(
        self,
        words: Sequence[str],
        vectors: Any,
        *,
        query: str | None = None,
        analogy: Sequence[str] | None = None,
        groups: Mapping[str, str] | None = None,
        title: str = "Near on the map, near in the space?",
        show: str | None = None,
        with_queries: bool = False,
        plane: str = "all",
        center: Sequence[float] | None = None,
        zoom: float = 1.0,
    ) -> None:
        words = as_tokens("words", words)
        array = as_array("vectors", vectors, (len(words), None)).astype(np.float64)
        if len(words) > MOST_WORDS:
            most = f"{MOST_WORDS:,} can be shown"
            raise CourseError(f"There are {len(words):,} words; {most}.", self.lighter)
        self._ids = {word: i for i, word in enumerate(words)}
        if len(self._ids) < len(words):
            word = shown(next(word for i, word in enumerate(words) if self._ids[word] != i))
            raise CourseError(f"The word {word} occurs twice.", "Pass each word once.")
        groups = {} if groups is None else groups
        self._known("groups", list(groups))
        names = list(dict.fromkeys(groups.values()))
        if len(names) > MOST_GROUPS:
            remedy = f"Pass {MOST_GROUPS} at most."
            raise CourseError(f"groups has {len(names)} different names.", remedy)
        codes = [1 + names.index(groups[word]) if word in groups else 0 for word in words]
        self._unit, packed = _quantized(array)
        self.hold({"vectors": packed})  # not too large for PCA
        drawn = {"vectors": packed, "groups": np.array(codes, np.uint8), **_plane(self._unit)}
        super().__init__(
            **self.hold(drawn),
            words=words,
            title=title,
            group_names=as_tokens("groups", names) if names else [],
            query=words[0] if query is None else query,
            analogy=[*words[:3], *words[:1] * 2][:3] if analogy is None else analogy,
            show=show or ("neighbors" if analogy is None else "analogy"),
            with_queries=with_queries,
            plane=plane,
            center=center,
            zoom=zoom,
        )

    def _known(self, name: str, chosen: Sequence[str]) -> None:
        for word in chosen:
            if word not in self._ids:
                raise CourseError(
                    f"{name} has the word {shown(word)}, which is not on the map.",
                    f"Choose among its words, such as {shown(next(iter(self._ids)))}.",
                )

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        a, b, c = (self._unit[self._ids[word]] for word in self.analogy)
        target, excluded = self._unit[self._ids[self.query]], [self.query]
        what = f"the words nearest to “{visible(self.query)}”"
        if self.show == "analogy":
            target, excluded = b - a + c, [] if self.with_queries else self.analogy
            what = "“{}” is to “{}” as “{}” is to".format(*map(visible, self.analogy))
        order = np.argsort(-self._unit @ target, kind="stable")
        found = [f"“{visible(self.words[i])}”" for i in order if self.words[i] not in excluded]
        return (
            f"A map of {len(self.words):,} words, {visible(self.title).replace('␣', ' ')}; "
            f"{what}, by cosine: {', '.join(found[:NEIGHBORS]) or 'none'}."
        )

    @traitlets.validate("query", "analogy")
    def _words_are_known(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "analogy" and len(value) != 3:
            raise CourseError(f"analogy has {len(value)} words, not three.", "Pass a, b and c.")
        self._known(name, [value] if name == "query" else value)
        return value

    @traitlets.validate("show", "plane")
    def _choice_is_known(self, proposal: Any) -> str:
        name, choices = proposal["trait"].name, ("neighbors", "analogy", "all", "chosen")
        return one_of(name, proposal["value"], choices[:2] if name == "show" else choices[2:])

    @traitlets.validate("center", "zoom")
    def _window_is_on_the_map(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "zoom":
            return within(name, value, 1, 64)
        if value is not None and len(value) != 2:
            raise CourseError(f"center has {len(value)} numbers, not two.", "Pass x and y.")
        return value and [within(name, it, -2, 2) for it in value]


def _quantized(array: Array) -> tuple[Array, Array]:
    """Return the vectors with length one, and the same in bytes: 128 is 0."""
    largest = np.abs(array).max(1, keepdims=True)
    array = array / np.where(largest == 0, 1, largest)
    packed = (np.round(127 * array) + 128).astype(np.uint8)
    return array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-300), packed


def _plane(unit: Array) -> dict[str, Array]:
    """Return the two directions of largest variance, the mean along them, and their share."""
    _, sizes, rows = np.linalg.svd(unit - unit.mean(0), full_matrices=False)
    axes = np.zeros((2, unit.shape[1]))
    axes[: len(rows)] = rows[:2]
    axes *= np.where(axes.max(1) < -axes.min(1), -1, 1)[:, None]  # the largest entry is positive
    share = np.array([(sizes[:2] ** 2).sum() / max((sizes**2).sum(), 1e-300)])
    return {"axes": axes, "middle": axes @ unit.mean(0), "share": share}
