"""Map: word vectors in a plane, and their neighbors and analogies in the full width."""

from collections import Counter
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
ZOOMS = (1.0, 64.0)


class Map(Widget):
    """Word vectors as a map: a projection by PCA, neighbors by cosine, analogies by offset.

    Every vector counts with length one. The map shows the two directions of largest variance;
    neighbors and the answers of analogies are computed in the full width. The page holds each
    vector in one byte per number, which changes a cosine by less than 0.01.

    Args:
        words: each word once, the most frequent first: labels are placed in this order.
        vectors: one row for each word, (words, width).
        query: the word whose neighbors are shown; None: the first word.
        analogy: three words a, b, c of the question "a is to b as c is to what?"; its answer is the
            word nearest to b − a + c. None: the first three words.
        groups: the name of a group for some of the words; at most eight groups, marked by shape
            and color.
        title: what the vectors are.
        show: "neighbors" or "analogy"; None: the analogy if one is given.
        with_queries: whether the three words of an analogy may be its answer.
        plane: "all", the plane of all words, or "chosen", that of the query and its neighbors, or
            of the analogy's four words.
        center: the middle of the window, in the plane's coordinates; None: of all words.
        zoom: the magnification, from 1 to 64.
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
        (word, count), *_ = Counter(words).most_common(1)
        if count > 1 or len(words) > MOST_WORDS:
            wrong = f"has {len(words):,} words, more than {MOST_WORDS:,}"
            raise CourseError(
                f"words {f'has {word!r} {count} times' if count > 1 else wrong}.",
                "Pass each word once." if count > 1 else self.lighter,
            )
        array = as_array("vectors", vectors, (len(words), None)).astype(np.float64)
        self._ids = {word: i for i, word in enumerate(words)}
        self._unit, packed = _quantized(array)
        self.hold({"vectors": packed})  # not too large for what follows
        names, codes = self._grouped({} if groups is None else groups)
        super().__init__(
            **self.hold({"vectors": packed, "groups": codes, **_plane(self._unit)}),
            words=words,
            title=title,
            group_names=names,
            query=words[0] if query is None else query,
            analogy=[words[min(i, len(words) - 1)] for i in range(3)]
            if analogy is None
            else analogy,
            show=("neighbors" if analogy is None else "analogy") if show is None else show,
            with_queries=with_queries,
            plane=plane,
            center=center,
            zoom=zoom,
        )

    def _grouped(self, groups: Mapping[str, str]) -> tuple[list[str], Array]:
        """Return the groups' names, and each word's group, from 1; 0 is none."""
        unknown = next((word for word in groups if word not in self._ids), None)
        names = as_tokens("groups", list(dict.fromkeys(groups.values()))) if groups else []
        if unknown is not None or len(names) > MOST_GROUPS:
            raise CourseError(
                f"groups has {f'the word {unknown!r}' if unknown else f'{len(names)} groups'}.",
                f"Pass a group for some of the words, and at most {MOST_GROUPS} groups.",
            )
        codes = [names.index(groups[word]) + 1 if word in groups else 0 for word in self._ids]
        return names, np.array(codes, np.uint8)

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        a, b, c = (self._unit[self._ids[word]] for word in self.analogy)
        asked = self.show == "analogy"
        cosines = self._unit @ (b - a + c if asked else self._unit[self._ids[self.query]])
        excluded = (() if self.with_queries else self.analogy) if asked else [self.query]
        order = [i for i in np.argsort(-cosines, kind="stable") if self.words[i] not in excluded]
        a, b, c = (f"“{visible(word)}”" for word in self.analogy)
        what = f"the words nearest to {b} − {a} + {c}" if asked else "the nearest words to "
        return (
            f"A map of {len(self.words):,} words, {visible(self.title).replace('␣', ' ')}; "
            f"{what}{'' if asked else f'“{visible(self.query)}”'} by cosine: "
            + (", ".join(f"“{visible(self.words[i])}”" for i in order[:NEIGHBORS]) or "none")
            + "."
        )

    @traitlets.validate("query", "analogy")
    def _words_are_known(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        asked = [value] if name == "query" else value
        if name == "analogy" and len(asked) != 3:
            raise CourseError(f"analogy has {len(asked)} words, not three.", "Pass a, b and c.")
        if unknown := [word for word in asked if word not in self._ids]:
            raise CourseError(
                f"{name} has the word {shown(unknown[0])}, which is not on the map.",
                f"Choose among its words, such as {shown(self.words[0])}.",
            )
        return value

    @traitlets.validate("show", "plane")
    def _choice_is_known(self, proposal: Any) -> str:
        choices = {"show": ("neighbors", "analogy"), "plane": ("all", "chosen")}
        name = proposal["trait"].name
        return one_of(name, proposal["value"], choices[name])

    @traitlets.validate("center", "zoom")
    def _window_is_on_the_map(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "zoom":
            return within(name, value, *ZOOMS)
        if value is not None and len(value) != 2:
            raise CourseError(f"center has {len(value)} numbers, not two.", "Pass x and y.")
        return value and [within(name, it, -2, 2) for it in value]


def _quantized(array: Array) -> tuple[Array, Array]:
    """Return the vectors with length one, and the same in bytes: 128 is 0."""
    largest = np.abs(array).max(1, keepdims=True)
    array = np.divide(array, largest, out=np.zeros_like(array), where=largest > 0)
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    packed = np.round(127 * array).astype(np.int16) + 128
    return array / np.where(lengths == 0, 1, lengths), packed.astype(np.uint8)


def _plane(unit: Array) -> dict[str, Array]:
    """Return the two directions of largest variance, the middle along them, and their share."""
    _, sizes, axes = np.linalg.svd(unit - unit.mean(0), full_matrices=False)
    variances = sizes**2
    axes = np.concatenate([axes, np.zeros_like(unit[:1].repeat(2, 0))])[:2]
    highest = np.take_along_axis(axes, np.abs(axes).argmax(1)[:, None], axis=1)
    axes = axes * np.where(highest < 0, -1, 1)
    share = variances[:2].sum() / variances.sum() if variances.sum() > 1e-12 else 1.0
    return {"axes": axes, "middle": axes @ unit.mean(0), "share": np.array([share])}
