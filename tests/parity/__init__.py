"""Each model beside its reference: same weights, same inputs, every output and every gradient.

`python -m tests.parity --seed 0` prints the table. Each module here compares one family
with what the world uses (`torch.nn`, `transformers`, `gensim`); where there is no such thing, with
a slow implementation of our own, written for this purpose alone and straight from the equations.
"""
