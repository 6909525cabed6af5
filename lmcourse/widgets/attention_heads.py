"""AttentionHeads: every head of every layer, one head, one weight."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.attention_inputs import (
    as_bytes,
    as_channels,
    as_names,
    as_segments,
    choose_from,
    partners,
)
from lmcourse.widgets.attention_measures import described, measures, most_informative, strongest
from lmcourse.widgets.attention_scores import scores, value_norms
from lmcourse.widgets.attention_text import Data, View, labels, quoted
from lmcourse.widgets.attentions import LARGEST, LIGHTER, quantized
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import index_below, one_of, plain, within

TEMPERATURES = (0.1, 10.0)
NOTES = (
    "weight; blank: 0",
    "largest weight of each block; blank: 0",
    "difference (blue: below 0); blank: 0",
    "Layers ↓, heads →",
)
LESS = f"; this page has each query’s {LARGEST} largest weights, a running kernel has all"


class AttentionHeads(Widget):
    """All heads as a grid of thumbnails, and one of three pictures of a head that react to tokens:
    a map of its weights with the lines of one token, all lines, or its scores by dimension.

    Layers, heads, queries and keys are counted from 0, as in ``attentions[layer][0, head]``. A
    weight is sent as one byte with an error of at most 0.004: the last digit may be off by one. It
    is blank if it is exactly 0, such as that of a masked key. With ``queries`` and ``keys``, the
    page computes the weights of the shown head exactly.

    Args:
        attentions: a model's output (ours, or that of transformers), its ``.attentions``, or arrays
            (layer, head, query, key): see `lmcourse.widgets.attentions.as_attentions`. A mapping
            of names to such things makes 1 to 8 channels to compare: teacher and student, say.
        tokens: one string per query, and per key without ``key_tokens``.
        key_tokens: the tokens of the keys in cross-attention.
        part: the part of an encoder-decoder's output: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        segments: 0 or 1, or booleans, per token: the sentence of a pair; also (1, token), like
            token_type_ids.
        queries, keys, mask, bias, scale: what the first channel's weights are computed from, see
            `lmcourse.widgets.attention_scores.scores`; they must produce the weights.
        values: what the weights of a single channel multiply, (layer, head, key, width) or a list
            with one array per layer: the transformed values v · W_O of each head, or v alone. The
            page gets their norms.
        layer_map: by channel name, the layer of the first channel that each layer is compared with;
            by default the layer at the same relative depth.
        layer, head, query, key: shown at first; None: the head whose keys depend most on the query,
            and such a pair of tokens.
        picture: ``"map"``, a heat map with the lines of one token; ``"lines"``, two columns of
            tokens with all lines (up to 4,000) of one head, or ``"heads"`` of the layer's heads; or
            ``"scores"``, the query, all keys and their products, dimension by dimension.
        measure: with lines, ``"weight"``; ``"norm"``, weight times the norm of the value (Kobayashi
            et al. 2020), if there are values; ``"mean"`` of the layer's heads; or ``"rollout"`` of
            the layers up to this one (Abnar and Zuidema 2020), of self-attention. All but the
            first need a page with all weights.
        lines: which of the query's keys get a line: the largest ``"1"``, ``"3"`` or ``"8"`` (or
            numbers), or those with ``"50%"``, ``"90%"`` or ``"100%"`` of its weight, or of the
            difference.
        channel: the name of the shown channel.
        compare: ``"off"``, ``"beside"`` or ``"difference"``: with ``held`` or, if that is None or
            the shown head, with the first channel (the first with the second) or, for a single
            channel, with the next head. A difference needs a page with all weights.
        held: [layer, head] to compare with.
        between: ``"all"`` or, on a page with all weights, the segments of query and key: ``"A-A"``,
            ``"B-B"``, ``"A-B"``, ``"B-A"``. A pinned token outside of them stays pinned; the first
            one inside is shown.
        temperature, scaling, masking: with queries and keys, the temperature of the softmax, 0.1 to
            10; the scale, ``"given"`` or ``"none"``; and the mask, ``"given"``, ``"none"`` or
            ``"causal"``.
    """

    _esm = "".join(
        module(it).read_text(encoding="utf-8") for it in ("attention_pictures", "attention_heads")
    )
    title: ClassVar[str] = "Attention heads"
    lighter: ClassVar[str] = LIGHTER

    names = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True, data=True)
    segments = traitlets.List(traitlets.Int()).tag(sync=True, data=True)
    channels = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    says = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True, data=True)
    notes = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    choices: Any = traitlets.List().tag(sync=True, data=True)  # settings: name, label, values
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)
    picture = traitlets.Unicode("map").tag(sync=True)
    measure = traitlets.Unicode("weight").tag(sync=True)
    lines = traitlets.Unicode("8").tag(sync=True)
    channel = traitlets.Unicode("attention").tag(sync=True)
    compare = traitlets.Unicode("off").tag(sync=True)
    held = traitlets.List(traitlets.Int(), None, allow_none=True).tag(sync=True)
    between = traitlets.Unicode("all").tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    scaling = traitlets.Unicode("given").tag(sync=True)
    masking = traitlets.Unicode("given").tag(sync=True)
    # Requests for whole layers by a page that has only the largest weights, and the answers.
    wanted = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)  # [channel, layer]
    full = traitlets.List(traitlets.Bytes()).tag(sync=True)
    full_of = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)

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
        values: Any = None,
        layer_map: Mapping[str, Sequence[int]] | None = None,
        layer: int | None = None,
        head: int | None = None,
        query: int | None = None,
        key: int | None = None,
        picture: str = "map",
        measure: str = "weight",
        lines: str | int = "8",
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
        rows, columns = as_names(tokens, key_tokens, first.shape)
        same = key_tokens is None
        sides = [rows] if same else [rows, columns]
        parts = scores(first, queries, keys, mask, bias, scale)
        norms = value_norms(values, first.shape) if len(weights) == 1 else {}
        if picture == "scores" and not parts:
            raise CourseError(
                "The picture 'scores' needs queries and keys.",
                "Pass both, as attention_arrays returns them.",
            )
        pair = as_segments(segments, len(rows), same)
        data = Data(
            (quoted(rows), quoted(columns)),
            pair,
            {name: quantized(it) for name, it in weights.items()},
            parts,
            partners(weights, layer_map),
            norms.get("norms0"),
        )
        found = [measures(it, columns, same) for it in weights.values()]
        arrays = as_bytes(list(data.codes.values()), found)
        whole = "weights0" in arrays
        there = {"pair": bool(pair), "computed": bool(parts), "norms": bool(norms), "same": same}
        choices = choose_from(list(weights), first.shape, whole=whole, **there)
        self._data, self._shapes = data, [it.shape for it in weights.values()]
        self._choices = {name: list(texts) for name, _, texts in choices}
        channel = next(iter(weights)) if channel is None else channel
        chosen = one_of("channel", channel, weights)
        pinned = most_informative(
            weights[chosen],
            found[list(weights).index(chosen)][..., 0],
            same,
            [plain(it) for it in (layer, head, query, key)],
            data.among(one_of("between", between, self._choices["between"])),
        )
        own = "in the model, over all tokens: " if pair or parts else ""
        data.less = "" if whole else LESS
        for it, per in zip(weights.values(), found, strict=True):
            strong = strongest(it, same, data.quotes)
            lines_ = zip(per.reshape(-1, per.shape[-1]), strong, strict=True)
            data.says.append([own + described(head, most) for head, most in lines_])
        bits = f"blue: mean entropy, 0 to {np.log2(len(columns)):.2g} bits"
        super().__init__(
            **self.hold(arrays | data.partners | parts | norms),
            names=[it for them in sides for it in (labels(them), quoted(them))],
            segments=pair,
            channels=list(weights),
            says=data.says,
            notes=[bits, data.less, *NOTES],
            choices=choices,
            **dict(zip(("layer", "head", "query", "key"), pinned, strict=True)),
            picture=picture,
            measure=measure,
            lines=lines,
            channel=chosen,
            compare=compare,
            held=held,
            between=between,
            temperature=temperature,
            scaling=scaling,
            masking=masking,
        )

    def state(self) -> dict[str, Any]:
        """Return the state of the JavaScript model, without the layers that a kernel has sent."""
        return super().state() | {"wanted": [], "full": [], "full_of": []}

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        return View(self._data, self).alternative()

    @traitlets.validate("layer", "head", "query", "key")
    def _index_exists(self, proposal: Any) -> int | None:
        name = proposal["trait"].name
        axis = ("layer", "head", "query", "key").index(name)
        if isinstance(proposal["value"], bool):
            raise CourseError(f"{name} is {proposal['value']}.", "Pass an integer from 0.")
        most = max(shape[axis] for shape in self._shapes)
        return index_below(name, proposal["value"], most)

    @traitlets.validate("held")
    def _held_exists(self, proposal: Any) -> list[int] | None:
        value = proposal["value"]
        if value is None:
            return None
        if len(value) != 2:
            raise CourseError(f"held is {value}.", "Pass [layer, head], or None.")
        for axis in (0, 1):
            index_below(f"held[{axis}]", value[axis], max(shape[axis] for shape in self._shapes))
        return list(value)

    @traitlets.validate(
        "picture", "measure", "lines", "compare", "masking", "scaling", "channel", "between"
    )
    def _choice_is_known(self, proposal: Any) -> str:
        name = proposal["trait"].name
        return one_of(name, proposal["value"], self._choices[name])

    @traitlets.validate("temperature")
    def _temperature_is_in_range(self, proposal: Any) -> float:
        return within(
            "temperature", proposal["value"], *(TEMPERATURES if self._data.parts else (1, 1))
        )

    @traitlets.observe("wanted")
    def _send_layers(self, change: Any) -> None:
        """Send the layers that a page requests: that of the shown head, and of the compared one."""
        codes = list(self._data.codes.values())
        known = [[i, layer] for i, it in enumerate(codes) for layer in range(len(it))]
        requested = [it for i, it in enumerate(change["new"]) if it not in change["new"][:i]]
        if 1 <= len(requested) <= 2 and all(it in known for it in requested):
            with self.hold_sync():
                self.full = [codes[i][layer].tobytes() for i, layer in requested]
                self.full_of = requested
