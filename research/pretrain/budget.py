"""A recipe's budget: on what a network learns, how long, and how fast."""

from dataclasses import dataclass, replace

from lmcourse.corpus.bookworld import SPLITS


@dataclass(frozen=True)
class Budget:
    """On what a model learns, how long, and how fast.

    Attributes:
        steps: of the optimizer.
        reviews, reviews_seed: what it learns from: ``world.sample(reviews, reviews_seed)``, of
            which the first 6,000 are the train split.
        batch_size: in reviews.
        learning_rate: AdamW's highest, after ``warmup`` of the steps (a share); it falls to 0.
        matrix_rate: Muon's for the matrices of layers, likewise; None: AdamW moves them, too.
        weight_decay: not of biases and LayerNorms.
        betas: of AdamW.
        clip: the largest norm of a gradient.
        repeats: in this share of the steps, the first ones, rare words that a text repeats count
            more; see `research.pretrain.repeats`.
        looks: how often held-out reviews are looked at on the way.
        held_out: how many these are, the first of the validation split.
        measured: how many reviews of the test split a gap table reads; None: as `gap_table` has it.
    """

    steps: int = 8000
    reviews: int = 30_000
    reviews_seed: int = SPLITS["train"][1]
    batch_size: int = 16
    learning_rate: float = 2e-3
    matrix_rate: float | None = None
    warmup: float = 0.05
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0
    repeats: float = 0.0
    looks: int = 20
    held_out: int = 200
    measured: int | None = None

    def shortened(self, steps: int) -> "Budget":
        """So few steps, on no more reviews than they read."""
        return replace(
            self,
            steps=steps,
            reviews=min(self.reviews, max(1, steps) * self.batch_size),
            held_out=min(self.held_out, 8),
            measured=8,
        )
