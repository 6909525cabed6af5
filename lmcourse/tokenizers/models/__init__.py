"""The four kinds of model, how they cut a word, and how they are trained."""
