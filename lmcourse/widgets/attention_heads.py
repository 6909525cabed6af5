"""AttentionHeads: every head of every layer, one head, one weight."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.attention_channels import as_channels, partners
from lmcourse.widgets.attention_measures import measures, most_telling, said
from lmcourse.widgets.attention_scores import scores
from lmcourse.widgets.attentions import (
    LARGEST,
    LIGHTER,
    THUMBNAIL,
    WHOLE,
    largest,
    pooled,
    quantized,
)
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, whole_below, within
from lmcourse.widgets.packing import Array, as_array
from lmcourse.widgets.tokens import as_tokens, visible

LINES = {
    "1": "the largest",
    "3": "the 3 largest",
    "8": "the 8 largest",
    "50%": "half of the weight",
    "90%": "90 % of the weight",
    "100%": "all keys",
}
COMPARE = {"off": "off", "beside": "side by side", "difference": "difference"}
BETWEEN = {
    "all": "all tokens",
    "A-A": "A looks at A",
    "B-B": "B looks at B",
    "A-B": "A looks at B",
    "B-A": "B looks at A",
}
MASKING = {"given": "the model’s", "none": "none", "causal": "causal"}
SCALING = {"given": "the model’s", "none": "none"}
TEMPERATURES = (0.1, 10.0)
_LESS = f"; on this page are each query’s {LARGEST} largest weights, a running kernel has all"


class AttentionHeads(Widget):
    """The attention of all heads as a grid of thumbnails; one head as a heat map, with lines from
    one token to those it looks at; one weight as its arithmetic.

    Layers, heads, queries and keys are counted from 0, as in ``attentions[layer][0, head]``.

    Args:
        attentions: a model's output (ours, or that of transformers), its ``.attentions``, or arrays
            (layer, head, query, key): see `lmcourse.widgets.attentions.as_attentions`. A mapping
            of names to such things makes channels to compare: teacher and student, say.
        tokens: one string a query; and a key, unless ``key_tokens`` are given.
        key_tokens: of cross-attention: the tokens that are looked at.
        part: of an encoder-decoder's output: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        segments: 0 or 1 a token: which sentence of a pair it belongs to.
        queries, keys, mask, bias, scale: where the first channel's weights come from, see
            `lmcourse.widgets.attention_scores.scores`; they must lead to the weights.
        layer_map: for a channel's name, which layer of the first channel each of its layers is
            compared with; if it is not given, layers at the same share of the depth.
        layer, head, query, key: what is shown at first; None: the head whose keys depend most on
            the query, and a pair of tokens that shows it.
        lines: how many of the query's keys get a line: the largest, ``"1"``, ``"3"`` or ``"8"``; or
            as many as hold a share of its weight, ``"50%"``, ``"90%"`` or ``"100%"``.
        channel: the name of the one that is shown.
        compare: ``"off"``, ``"beside"`` or ``"difference"``, with the other channel or with
            ``held``.
        held: [layer, head] to compare with.
        between: ``"all"``, or from which segment to which: ``"A-A"``, ``"B-B"``, ``"A-B"``,
            ``"B-A"``.
        temperature, scaling, masking: with queries and keys, what the shown head's scores are
            divided by, from 0.1 to 10; whether they are scaled, ``"given"`` or ``"none"``; and the
            mask: ``"given"``, ``"none"`` or ``"causal"``.

    Raises:
        CourseError: there are no weights, they or the tokens do not fit, or a setting is out of
            range.
    """

    _esm = module("attention_heads")
    title: ClassVar[str] = "Attention heads"
    lighter: ClassVar[str] = LIGHTER

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    key_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)  # none: the same
    segments = traitlets.List(traitlets.Int()).tag(sync=True, data=True)
    channels = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    says = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True, data=True)
    choices: Any = traitlets.List().tag(sync=True, data=True)  # settings: name, label, values
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)
    lines = traitlets.Unicode("8").tag(sync=True)
    channel = traitlets.Unicode("attention").tag(sync=True)
    compare = traitlets.Unicode("off").tag(sync=True)
    held = traitlets.List(traitlets.Int(), None, allow_none=True).tag(sync=True)
    between = traitlets.Unicode("all").tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    scaling = traitlets.Unicode("given").tag(sync=True)
    masking = traitlets.Unicode("given").tag(sync=True)
    # One layer whole, for a page that has only the largest weights: asked for, and answered.
    wanted = traitlets.List(traitlets.Int()).tag(sync=True)  # channel and layer
    full = traitlets.Bytes().tag(sync=True)
    full_of = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(
        self,
        attentions: Any,
        tokens: Sequence[str],
        *,
        key_tokens: Sequence[str] | None = None,
        part: str | None = None,
        segments: Any = None,
        queries: Any = None,
        keys: Any = None,
        mask: Any = None,
        bias: Any = None,
        scale: float | None = None,
        layer_map: Mapping[str, Sequence[int]] | None = None,
        layer: int | None = None,
        head: int | None = None,
        query: int | None = None,
        key: int | None = None,
        lines: str = "8",
        channel: str | None = None,
        compare: str = "off",
        held: Sequence[int] | None = None,
        between: str = "all",
        temperature: float = 1.0,
        scaling: str = "given",
        masking: str = "given",
    ) -> None:
        weights = as_channels(attentions, part)
        first = next(iter(weights.values()))
        self._shapes = [it.shape for it in weights.values()]
        rows = as_tokens("tokens", tokens, first.shape[2])
        same = key_tokens is None
        columns = rows if key_tokens is None else as_tokens("key_tokens", key_tokens)
        if len(columns) != first.shape[3]:
            raise CourseError(
                f"The attentions have {first.shape[2]} queries and {first.shape[3]} keys, and "
                f"there are {len(columns)} {'tokens' if same else 'key_tokens'}.",
                "Pass one token a query and, of cross-attention, one a key as key_tokens.",
            )
        parts = scores(first, queries, keys, mask, bias, scale)
        self._scores = bool(parts)
        found = [measures(it, columns, same) for it in weights.values()]
        pairs = _segments(segments, len(rows), same)
        choices = _choices(list(weights), first.shape, bool(pairs), self._scores)
        self._choices = {name: [value for value, _ in values] for name, _, values in choices}
        codes = {name: quantized(it) for name, it in weights.items()}
        self._codes = list(codes.values())
        name = one_of("channel", channel, weights) if channel is not None else next(iter(weights))
        arrays = _arrays(self._codes, found)
        less = "" if "weights0" in arrays else _LESS
        entropies = found[list(weights).index(name)][..., 0]
        pinned = most_telling(weights[name], entropies, same, (layer, head, query, key))
        super().__init__(
            **self.hold(arrays | partners(weights, layer_map) | parts),
            tokens=rows,
            key_tokens=[] if same else columns,
            segments=pairs,
            channels=list(weights),
            says=[[said(it) + less for it in per.reshape(-1, per.shape[-1])] for per in found],
            choices=choices,
            **dict(zip(("layer", "head", "query", "key"), pinned, strict=True)),
            lines=lines,
            channel=name,
            compare=compare,
            held=held,
            between=between,
            temperature=temperature,
            scaling=scaling,
            masking=masking,
        )

    def state(self) -> dict[str, Any]:
        """What the module's model holds; the layer that a kernel sent stays with the kernel."""
        return super().state() | {"wanted": [], "full": "", "full_of": []}

    @property
    def alt(self) -> str:
        """What is to be seen, in words, at the present settings."""
        i = self.channels.index(self.channel)
        layers, heads, queries, keys = self._shapes[i]
        layer, head = min(self.layer, layers - 1), min(self.head, heads - 1)
        codes = self._codes[i][layer, head, self.query].astype(float)
        order = np.argsort(-codes, kind="stable")[:3]
        columns = self.key_tokens or self.tokens
        looks = [f"{visible(columns[j])!r} {(codes[j] / 255) ** 2:.2f}" for j in order if codes[j]]
        said = ", ".join(looks) or "nothing"
        return (
            f"Attention heads: {layers} × {heads} (layers × heads) over {queries} queries and "
            f"{keys} keys{self._of()}. Layer {layer}, head {head}: "
            f"{self.says[i][layer * heads + head]}. "
            f"Token {self.query}, {visible(self.tokens[self.query])!r}, looks at {said}; its "
            f"weight on token {self.key}, {visible(columns[self.key])!r}, is "
            f"{(codes[self.key] / 255) ** 2:.2f}. {self._settings()}"
        )

    def _of(self) -> str:
        return f", of {self.channel}" if len(self.channels) > 1 else ""

    def _settings(self) -> str:
        """The other settings, in words."""
        said = [f"Lines: {self.lines}"]
        if self.compare != "off":
            said.append(f"compared ({self.compare}) with {self.held or 'the other channel'}")
        if self.between != "all":
            said.append(f"segments {self.between}")
        if (self.temperature, self.scaling, self.masking) != (1.0, "given", "given"):
            said.append(
                f"temperature {self.temperature:g}, scale {self.scaling}, mask {self.masking} "
                "(the numbers above are the model's own)"
            )
        return ", ".join(said) + "."

    @traitlets.validate("layer", "head", "query", "key")
    def _place_exists(self, proposal: Any) -> int | None:
        name = proposal["trait"].name
        axis = ("layer", "head", "query", "key").index(name)
        most = max(shape[axis] for shape in self._shapes)
        return whole_below(name, proposal["value"], most)

    @traitlets.validate("held")
    def _held_exists(self, proposal: Any) -> list[int] | None:
        value = proposal["value"]
        if value is None:
            return None
        if len(value) != 2:
            raise CourseError(f"held is {value}.", "Give [layer, head], or None.")
        for axis in (0, 1):
            whole_below(f"held[{axis}]", value[axis], max(shape[axis] for shape in self._shapes))
        return list(value)

    @traitlets.validate("lines", "compare", "masking", "scaling", "channel", "between")
    def _choice_is_known(self, proposal: Any) -> str:
        name, value = proposal["trait"].name, proposal["value"]
        return one_of(name, value, self._choices.get(name, [self.traits()[name].default_value]))

    @traitlets.validate("temperature")
    def _temperature_is_in_range(self, proposal: Any) -> float:
        return within("temperature", proposal["value"], *(TEMPERATURES if self._scores else (1, 1)))

    @traitlets.observe("wanted")
    def _send_layer(self, change: Any) -> None:
        """Answer a page that lacks a layer."""
        match change["new"]:
            case [channel, layer] if 0 <= channel < len(self._codes) and 0 <= layer < len(
                self._codes[channel]
            ):
                with self.hold_sync():
                    self.full = self._codes[channel][layer].tobytes()
                    self.full_of = [channel, layer]


def _choices(
    channels: list[str], shape: tuple[int, ...], pair: bool, computed: bool
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """The settings that there are to choose from: name, label, and each value with its words."""
    out: list[tuple[str, str, Mapping[str, str]]] = []
    if channels[1:]:
        out.append(("channel", "Show", {it: it for it in channels}))
    out.append(("lines", "Lines to", LINES))
    if channels[1:] or shape[0] * shape[1] > 1:
        out.append(("compare", "Compare" if channels[1:] else "Compare this head", COMPARE))
    if pair:
        out.append(("between", "Segments", BETWEEN))
    if computed:
        out += [("masking", "Mask", MASKING), ("scaling", "Scale", SCALING)]
    return [(name, label, list(values.items())) for name, label, values in out]


def _arrays(codes: list[Array], found: list[Array]) -> dict[str, Array]:
    """What a page gets: each channel's entropies, as shares of the uniform distribution's; and its
    weights, whole or as thumbnails and the largest of them.
    """
    whole = sum(it.size for it in codes) <= WHOLE
    out = {}
    for i, weights in enumerate(codes):
        most = np.log2(weights.shape[-1]) or 1.0
        out[f"entropy{i}"] = np.clip(found[i][..., 0] / most, 0, 1)
        if whole:
            out[f"weights{i}"] = weights
        else:
            out[f"thumbs{i}"] = pooled(weights, THUMBNAIL)
            out[f"at{i}"], out[f"top{i}"] = largest(weights, LARGEST)
    return out


def _segments(segments: Any, length: int, same: bool) -> list[int]:
    """0 or 1 a token; an empty list where there is no pair."""
    if segments is None:
        return []
    if not same:
        raise CourseError(
            "Segments go with one text that looks at itself, and there are key_tokens.",
            "Leave out one of the two.",
        )
    found = as_array("segments", segments, (length,))
    if not np.isin(found, (0, 1)).all():
        raise CourseError(
            f"segments holds {found[~np.isin(found, (0, 1))][0]}.",
            "Pass 0 for a token of the first sentence, 1 for one of the second.",
        )
    return [int(it) for it in found] if found.min() != found.max() else []
