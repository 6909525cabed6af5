"""The style of the course's figures: one matplotlib style, and fixed colors."""

from pathlib import Path

# Okabe and Ito (2008): colors that color-blind readers can distinguish.
BLUE, ORANGE, GREEN, PURPLE, GRAY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#777777"
INK = "#1b1f24"  # the color of text

COLORS = {
    "RNN": BLUE,
    "LSTM": ORANGE,
    "GRU": GREEN,
    "full": BLUE,
    "regular": ORANGE,
    "randomized": GREEN,
    "mixture": PURPLE,
    "baseline": GRAY,
    # As in widgets (web/widgets/shared/colors.js).
    "exact": INK,
    "model": BLUE,
    "student": BLUE,
    "teacher": ORANGE,
}

LINES = "#59636e"  # of arrows and frames in diagrams
# The parts of a model in diagrams. As in the widget Anatomy (web/widgets/shared/colors.js).
PARTS = {
    "plain": "#ffffff",
    "token": "#8c959f",
    "embedding": "#56B4E9",
    "state": BLUE,
    "attention": "#E69F00",
    "feed-forward": GREEN,
    "norm": "#F0E442",
    "gate": ORANGE,
    "loss": PURPLE,
    "linear": "#999999",
}


def tint(color: str, strength: float) -> tuple[float, float, float]:
    """Return a color mixed with white: 0 is white, 1 the color itself."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(color))
    return red, green, blue


def use_style() -> None:
    """Set the course's matplotlib style for this process."""
    import matplotlib.pyplot as plt

    plt.style.use(Path(__file__).with_name("style.mplstyle"))
