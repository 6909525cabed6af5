"""A text with sampled tokens and its labels; the joint loss, and what it has gradients for."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, shown

Network = Callable[[Tensor, Tensor, Tensor], Tensor]


def corrupted(
    ids: Tensor, masked: Tensor, real: Tensor, logits: Tensor, draws: Tensor
) -> tuple[Tensor, Tensor]:
    V = logits.shape[-1]
    cumulative = logits.softmax(-1).cumsum(-1)
    tokens = (cumulative <= draws[..., None]).sum(-1).clamp(max=V - 1)
    chosen = masked & real
    text = torch.where(chosen, tokens, ids)
    replaced = (text != ids).long()
    return text, replaced.masked_fill(~real, -100)


def _text(seed: int, vocab: int, *rows: str) -> Example:
    """Texts whose positions are visible (.), masked (x), padding (_), or masked padding (#)."""
    batch, time = len(rows), len(rows[0])
    masked = torch.tensor([[letter in "x#" for letter in row] for row in rows])
    real = torch.tensor([[letter in ".x" for letter in row] for row in rows])
    uniform = torch.special.ndtr(normal(2, batch, time, seed=(seed, "draws")))
    ids = (vocab * uniform[0]).long().clamp(max=vocab - 1)
    logits = normal(batch, time, vocab, seed=(seed, "logits"))
    at = ids[..., None]  # the generator guesses well: about half of the tokens are the original
    logits = logits.scatter_add(2, at, torch.full(at.shape, 1.5, dtype=logits.dtype))
    return ids.masked_fill(~real, 0), masked, real, logits, uniform[1]


def _large() -> Example:
    ids, masked, real, logits, draws = _text(7, 6, "x.xx.x", ".xxx#_")
    return ids, masked, real, 300 * logits + 900, draws


def _impossible() -> Example:
    """The first tokens have the probability 0, and some draws are 0."""
    ids, masked, real, logits, draws = _text(8, 5, "xx.x.x", ".xxx__")
    logits[..., :2] = -torch.inf
    draws[:, ::2] = 0.0
    return ids, masked, real, logits, draws


def _position(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value; else the first position that differs, and its numbers."""
    found = one_value(CORRUPTED, arguments, value, wanted)
    ours, right = value.parts, wanted.parts
    if found or any(a.shape != b.shape for a, b in zip(ours, right, strict=True)):
        return found
    ids, masked, real, logits, draws = arguments
    row, t = ((ours[0] != right[0]) | (ours[1] != right[1])).nonzero()[0].tolist()
    kind = "padding" if not real[row, t] else "masked" if masked[row, t] else "visible"
    sums = shown(logits[row, t].softmax(-1).cumsum(-1))
    draw = f", the cumulative probabilities are {sums} and the draw is {draws[row, t]:.4g}"
    return (
        f"At position {t} of text {row} ({kind}), the original is {ids[row, t]}"
        f"{draw if kind == 'masked' else ''}: your token and label are {int(ours[0][row, t])} and "
        f"{int(ours[1][row, t])}; expected: {int(right[0][row, t])} and {int(right[1][row, t])}."
    )


CORRUPTED: Task = Task(
    corrupted,
    examples=[
        _text(0, 7, ".x.xx..xxx#_", "xx.x.xx.x..x", ".xx.xx_#__##"),
        _text(1, 5, "x.xxx.", "xxx.x#"),
        _text(2, 9, ".xx.x.xx.x", "x..xx.xx#_", "xxxxx..x.x", "..xxx_____"),
    ],
    edge_cases={
        "with logits near 1000": _large(),
        "if a probability or a draw is 0": _impossible(),
    },
    slips="""
Every sampled token has the label 1. If the sample is the original token, nothing was replaced: the
label is 0.
    replaced = (text != ids).long() -> replaced = chosen.long()
    or
    replaced = (text != ids).long() -> replaced = masked.long()
The labels are reversed: 1 is for a replaced token.
    replaced = (text != ids).long() -> replaced = (text == ids).long()
Padding is replaced, where it is in the mask. It is no text.
    chosen = masked & real -> chosen = masked
The label of padding is −100, which losses ignore; 0 would count as an original token.
    return text, replaced.masked_fill(~real, -100) -> return text, replaced
    or
    return text, replaced.masked_fill(~real, -100) -> return text, replaced.masked_fill(~real, 1)
    or
    return text, replaced.masked_fill(~real, -100) -> return text, replaced.masked_fill(~real, -1)
Only masked positions have a label. All real positions have one: the discriminator learns from each.
    replaced.masked_fill(~real, -100) -> replaced.masked_fill(~chosen, -100) ||
        replaced.masked_fill(~masked, -100)
This takes the most probable token. A token is sampled: the draw decides.
    tokens = (cumulative <= draws[..., None]).sum(-1).clamp(max=V - 1) -> tokens = logits.argmax(-1)
Other positions than the masked ones are sampled: all of them, or the visible ones.
    chosen = masked & real -> chosen = real
    or
    chosen = masked & real -> chosen = ~masked & real
    or
    chosen = masked & real -> chosen = torch.ones_like(masked)
The probabilities are not a softmax over the vocabulary.
    logits.softmax(-1).cumsum(-1) -> logits.softmax(1).cumsum(-1) || logits.softmax(0).cumsum(-1) ||
        logits.cumsum(-1) || logits.sigmoid().cumsum(-1) || logits.exp().cumsum(-1) ||
        (logits.relu() / logits.relu().sum(-1, keepdim=True)).cumsum(-1) ||
        (-logits).softmax(-1).cumsum(-1) || logits.log_softmax(-1).cumsum(-1) ||
        (logits.sigmoid() / logits.sigmoid().sum(-1, keepdim=True)).cumsum(-1)
    or
    cumulative = logits.softmax(-1).cumsum(-1) -> cumulative = torch.arange(1, V + 1) / V
The token is not the first whose cumulative probability is *greater* than the draw: it is the one
before or after, or the search goes from the end, or there are no cumulative probabilities.
    draws[..., None]).sum(-1).clamp(max=V - 1) -> draws[..., None]).sum(-1).sub(1).clamp(min=0) ||
        draws[..., None]).sum(-1).add(1).clamp(max=V - 1) || 1 - draws[..., None]).sum(-1).clamp(
        max=V - 1)
    or
    cumulative <= draws -> cumulative < draws
    or
    logits.softmax(-1).cumsum(-1) -> logits.softmax(-1)
    or
    tokens = (cumulative <= draws[..., None]).sum(-1).clamp(max=V - 1) -> tokens = (
        logits.softmax(-1) > draws[..., None]).int().argmax(-1)
    or
    tokens = (cumulative <= draws[..., None]).sum(-1).clamp(max=V - 1) -> tokens = (
        cumulative - draws[..., None]).abs().argmin(-1)
    or
    logits.softmax(-1).cumsum(-1) -> logits.softmax(-1).flip(-1).cumsum(-1)
    or
    logits.softmax(-1).cumsum(-1) -> logits.softmax(-1).sort(-1, descending=True).values.cumsum(-1)
A draw belongs to its position: the number at [row, t] decides the token there.
    cumulative = logits -> draws = draws.flip(1); cumulative = logits
    or
    cumulative = logits -> own = torch.zeros_like(draws); own[masked] = draws.flatten()[:int(
        masked.sum())]; draws = own; cumulative = logits
    or
    cumulative = logits -> draws = draws[:1].expand_as(draws); cumulative = logits
    or
    cumulative = logits -> draws = draws[:, :1].expand_as(draws); cumulative = logits
    or
    cumulative = logits -> own = torch.zeros_like(draws); own[masked & real] = draws.flatten()[:int(
        (masked & real).sum())]; draws = own; cumulative = logits
    or
    cumulative = logits -> draws = draws.roll(1, 1); cumulative = logits
The original token is excluded from the sample. The generator may guess it, and often does.
    cumulative = logits -> logits = logits.scatter(2, ids[..., None], -torch.inf); cumulative =
        logits
The exponential overflows for large logits: subtract the largest one first, or use `softmax`.
    cumulative = logits.softmax(-1).cumsum(-1) -> e = logits.exp(); cumulative = (e / e.sum(-1,
        keepdim=True)).cumsum(-1)
""",
    names=("The text", "The labels"),
    cause=_position,
    note="With 15% masked and a generator that guesses 60% of the tokens, 6% are replaced: "
    "“always original” is then right for 94%.",
)


def joint(
    parameters: tuple[Tensor, Tensor, Tensor],
    generator: Network,
    discriminator: Network,
    ids: Tensor,
    masked_ids: Tensor,
    real: Tensor,
    sample: Callable[[Tensor], Tensor],
    weight: float,
) -> tuple[Tensor, Tensor, list[Tensor], list[Tensor]]:
    E, theta, phi = (each.detach().clone().requires_grad_() for each in parameters)
    masked = masked_ids != ids
    logits = generator(E, theta, masked_ids)
    text = torch.where(masked, sample(logits), ids)
    replaced = (text != ids).to(E.dtype)
    J_G = F.cross_entropy(logits[masked], ids[masked])
    scores = discriminator(E, phi, text)
    J_D = F.binary_cross_entropy_with_logits(scores[real], replaced[real])
    norms = list[list[Tensor]]()
    for term in (J_G, weight * J_D):
        gradients = torch.autograd.grad(term, (E, theta, phi), retain_graph=True, allow_unused=True)
        norms.append([torch.zeros(()) if g is None else g.norm() for g in gradients])
    return J_G.detach(), J_D.detach(), norms[0], norms[1]


class _Generator:
    """Logits over the vocabulary from each token and its neighbors; the output table is E."""

    def __repr__(self) -> str:
        return "generator"

    def __call__(self, E: Tensor, theta: Tensor, text: Tensor) -> Tensor:
        x = E[text]
        x = x + x.roll(1, 1) + x.roll(-1, 1)
        return (x @ theta).tanh() @ E[:-1].T


class _Discriminator:
    """A score for each token from it and its neighbors."""

    def __repr__(self) -> str:
        return "discriminator"

    def __call__(self, E: Tensor, phi: Tensor, text: Tensor) -> Tensor:
        x = E[text]
        near = x.roll(1, 1) + x.roll(-1, 1)
        return ((x @ phi) * near.tanh()).sum(-1)


class _Sample:
    """A token for each position, by fixed draws."""

    def __init__(self, draws: Tensor) -> None:
        self.draws = draws

    def __repr__(self) -> str:
        return "sample"

    def __call__(self, logits: Tensor) -> Tensor:
        cumulative = logits.detach().double().softmax(-1).cumsum(-1)
        found = (cumulative <= self.draws[..., None]).sum(-1)
        return found.clamp(max=logits.shape[-1] - 1)


def _pair(seed: int, weight: float, vocab: int, width: int, *rows: str) -> Example:
    """The last row of E is that of [MASK]; rows of visible (.), masked (x) and padding (_)."""
    ids, masked, real, _, draws = _text(seed, vocab, *rows)
    parameters = (
        normal(vocab + 1, width, seed=(seed, "E")),
        normal(width, width, seed=(seed, "theta")),
        normal(width, width, seed=(seed, "phi")) / 2,
    )
    networks = _Generator(), _Discriminator()
    return parameters, *networks, ids, ids.masked_fill(masked, vocab), real, _Sample(draws), weight


def _terms(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value; else the first value that differs."""
    found = one_value(JOINT, arguments, value, wanted)
    if found or len(value.parts) != len(wanted.parts):
        return found
    for name, ours, right in zip(JOINT.names, value.parts, wanted.parts, strict=True):
        if ours.shape == right.shape and not torch.allclose(ours, right, rtol=1e-4, atol=1e-6):
            return f"{name}: {shown(ours)}; expected: {shown(right)}."
    return ""


JOINT: Task = Task(
    joint,
    examples=[
        _pair(0, 50.0, 6, 3, ".x.xx..xx.__", "xx.x..x..xx.", ".x..x_______"),
        _pair(1, 10.0, 5, 4, "x..xx.", ".xxx__"),
        _pair(2, 3.0, 8, 2, "..xx..x...", ".xx.x.____", "x...x.x.x."),
    ],
    edge_cases={
        "if the discriminator's loss has the weight 0": _pair(3, 0.0, 5, 3, "x..x.", ".xx__")
    },
    slips="""
The discriminator's loss is not over all real positions. All of them count, masked or visible,
replaced or not, and padding does not: this is what ELECTRA gains.
    scores[real], replaced[real] -> scores[masked], replaced[masked] ||
        scores[real & ~masked], replaced[real & ~masked] ||
        scores[replaced == 1], replaced[replaced == 1]
    or
    scores[real], replaced[real] -> scores, replaced
The generator's loss is not over the masked positions. The others show their token.
    F.cross_entropy(logits[masked], ids[masked]) -> F.cross_entropy(logits[real], ids[real]) ||
        F.cross_entropy(logits.flatten(0, 1), ids.flatten()) ||
        F.cross_entropy(logits[real & ~masked], ids[real & ~masked])
The labels are wrong: 1 is for a token that differs from the original. A correct guess is an
original token, with the label 0.
    replaced = (text != ids).to(E.dtype) -> replaced = masked.to(E.dtype) ||
        replaced = (text == ids).to(E.dtype) || replaced = (masked & (text == ids)).to(E.dtype) ||
        replaced = (~masked).to(E.dtype)
A loss gets probabilities, or another function than a logarithm is applied to these. Both networks
return logits.
    F.cross_entropy(logits[masked], ids[masked]) -> F.cross_entropy(logits[masked].softmax(-1),
        ids[masked]) || -logits[masked].softmax(-1).gather(1, ids[masked][:, None]).mean() ||
        -logits[masked].gather(1, ids[masked][:, None]).mean()
    or
    F.binary_cross_entropy_with_logits(scores[real], replaced[real]) ->
        F.binary_cross_entropy_with_logits(scores[real].sigmoid(), replaced[real]) ||
        F.mse_loss(scores[real].sigmoid(), replaced[real])
    or
    F.cross_entropy(logits[masked], ids[masked]) -> F.cross_entropy(logits[masked].softmax(-1),
        ids[masked])
    F.binary_cross_entropy_with_logits(scores[real], replaced[real]) ->
        F.binary_cross_entropy_with_logits(scores[real].sigmoid(), replaced[real])
A network reads the wrong text: the generator reads the text with [MASK], and the discriminator the
original text with the *sampled* tokens at the masked positions.
    discriminator(E, phi, text) -> discriminator(E, phi, masked_ids)
    or
    discriminator(E, phi, text) -> discriminator(E, phi, ids)
    or
    generator(E, theta, masked_ids) -> generator(E, theta, ids)
    or
    torch.where(masked, sample(logits), ids) -> torch.where(masked, logits.argmax(-1), ids)
    or
    torch.where(masked, sample(logits), ids) -> sample(logits)
    or
    torch.where(masked, sample(logits), ids) -> torch.where(real, sample(logits), ids)
    or
    torch.where(masked, sample(logits), ids) -> torch.where(masked, ids, sample(logits))
    or
    text = torch.where(masked, sample(logits), ids) -> text = masked_ids
A loss is a sum, or a mean of the texts' means. It is the mean over its positions.
    F.cross_entropy(logits[masked], ids[masked]) -> F.cross_entropy(logits[masked], ids[masked],
        reduction="sum")
    or
    (scores[real], replaced[real]) -> (scores[real], replaced[real], reduction="sum")
    or
    F.cross_entropy(logits[masked], ids[masked]) -> F.cross_entropy(logits[masked], ids[masked],
        reduction="sum")
    (scores[real], replaced[real]) -> (scores[real], replaced[real], reduction="sum")
    or
    F.cross_entropy(logits[masked], ids[masked]) -> torch.stack([F.cross_entropy(a[m], b[m]) for a,
        b, m in zip(logits, ids, masked)]).mean()
    F.binary_cross_entropy_with_logits(scores[real], replaced[real]) -> torch.stack([
        F.binary_cross_entropy_with_logits(a[m], b[m]) for a, b, m in zip(scores, replaced,
        real)]).mean()
    or
    F.cross_entropy(logits[masked], ids[masked]) -> F.cross_entropy(logits[masked], ids[masked],
        reduction="sum") / real.sum()
    or
    F.cross_entropy(logits[masked], ids[masked]) -> F.cross_entropy(logits[masked], ids[masked],
        reduction="sum") / ids.numel()
    or
    (scores[real], replaced[real]) -> (scores[real], replaced[real], reduction="sum") / ids.numel()
    or
    (scores[real], replaced[real]) -> (scores[real], replaced[real], reduction="sum") / masked.sum()
λ is missing in the gradients of the discriminator's term: the term is λ J_D, not J_D.
    (J_G, weight * J_D) -> (J_G, J_D)
    or
    (J_G, weight * J_D) -> (weight * J_G, J_D)
λ is in a loss that you return. Return J_G and J_D themselves; only the gradients contain λ.
    return J_G.detach(), J_D.detach(), -> return J_G.detach(), weight * J_D.detach(),
    or
    return J_G.detach(), J_D.detach(), -> return J_G.detach(), J_G.detach() + weight * J_D.detach(),
    or
    return J_G.detach(), J_D.detach(), -> return J_G.detach() + weight * J_D.detach(), J_D.detach(),
Each term has gradients of its own: these are those of the sum of both terms.
    (J_G, weight * J_D) -> (J_G + weight * J_D, J_G + weight * J_D)
    or
    (J_G, weight * J_D) -> (J_G, J_G + weight * J_D)
    or
    (J_G, weight * J_D) -> (J_G + weight * J_D, weight * J_D)
The generator does not fool the discriminator: its loss is a likelihood. No gradient of the
discriminator's term reaches θ, and none of the generator's term φ.
    for term in (J_G, weight * J_D): -> for term in (J_G + 0 * phi.sum() - weight * J_D, weight *
        J_D):
    or
    return J_G.detach(), J_D.detach(), norms[0], norms[1] ->
        norms[1][1] = norms[0][1]; return J_G.detach(), J_D.detach(), norms[0], norms[1]
    or
    J_G = F.cross_entropy(logits[masked], ids[masked]) -> J_G = F.binary_cross_entropy_with_logits(
        discriminator(E, phi, text)[masked], 1 - replaced[masked])
The embeddings are shared: both terms have a gradient for E.
    return J_G.detach(), J_D.detach(), norms[0], norms[1] ->
        norms[1][0] = torch.zeros(()); return J_G.detach(), J_D.detach(), norms[0], norms[1]
    or
    return J_G.detach(), J_D.detach(), norms[0], norms[1] ->
        norms[0][0] = torch.zeros(()); return J_G.detach(), J_D.detach(), norms[0], norms[1]
    or
    scores = discriminator(E, phi, text) -> scores = discriminator(E.detach(), phi, text)
    or
    logits = generator(E, theta, masked_ids) -> logits = generator(E.detach(), theta, masked_ids)
This is another size of the gradient: its norm is the square root of the sum of squares.
    else g.norm() for -> else g.square().sum() for || else g.abs().sum() for ||
        else g.sum() for || else g.abs().max() for || else g.square().mean().sqrt() for ||
        else g.abs().mean() for || else torch.linalg.matrix_norm(g, 2) for
""",
    names=(
        "The generator's loss",
        "The discriminator's loss",
        "The gradients of the generator's term for E, θ and φ",
        "The gradients of the discriminator's term for E, θ and φ",
    ),
    cause=_terms,
    note="Only the shared embeddings learn from both terms. Sampling has no gradient, so the "
    "generator never learns to deceive.",
)
