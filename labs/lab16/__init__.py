"""Lab 16, DeBERTa: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_distances = lab.exercise("distances", "Relative distances", 10, 1, "terms:DISTANCES")
check_scores = lab.exercise("scores", "Gather the scores", 20, 3, "terms:SCORES")
check_attention = lab.exercise("attention", "Disentangled attention", 15, 2, "terms:ATTENTION")
check_decoder = lab.exercise("decoder", "The enhanced mask decoder", 15, 3, "training:DECODER")
check_sift = lab.exercise("sift", "Scale-invariant fine-tuning", 25, 4, "training:SIFT")
check_longer = lab.exercise("longer", "Longer than trained", 35, 5, "longer:LONGER")
