"""The course's figures: one matplotlib style, the same colors for the same things."""

from pathlib import Path

# Okabe and Ito (2008): colors that remain apart for color-blind readers.
BLUE, ORANGE, GREEN, PURPLE, GRAY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#777777"
INK = "#1b1f24"  # that of text

COLORS = {
    "RNN": BLUE,
    "LSTM": ORANGE,
    "GRU": GREEN,
    "full": BLUE,
    "regular": ORANGE,
    "randomized": GREEN,
    "mixture": PURPLE,
    "baseline": GRAY,
    # In widgets, too (web/widgets/shared/colors.js): the exact answer is ink, a model's is blue.
    "exact": INK,
    "model": BLUE,
    "student": BLUE,
    "teacher": ORANGE,
}


def use_style() -> None:
    """Make the course's style matplotlib's own for this process."""
    import matplotlib.pyplot as plt

    plt.style.use(Path(__file__).with_name("style.mplstyle"))
