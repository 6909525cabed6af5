"""Training: the loop that every chapter uses, and truncated backpropagation through time."""

from lmcourse.training.loop import History, train, window_losses
from lmcourse.training.truncation import cut_every, cut_randomly, scale_gradient

__all__ = ["History", "cut_every", "cut_randomly", "scale_gradient", "train", "window_losses"]
