"""The course's figures: one matplotlib style, the same colors for the same things."""

from pathlib import Path

# Okabe and Ito (2008): eight colors that remain apart for color-blind readers.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, YELLOW, SKY, BLACK = "#CC79A7", "#E69F00", "#56B4E9", "#000000"

COLORS = {
    "RNN": BLUE,
    "LSTM": ORANGE,
    "GRU": GREEN,
    "full": BLUE,
    "regular": ORANGE,
    "randomized": GREEN,
    "baseline": "#777777",
}


def use_style() -> None:
    """Make the course's style matplotlib's own for this process."""
    import matplotlib.pyplot as plt

    plt.style.use(Path(__file__).with_name("style.mplstyle"))
