"""The papers' claims, tested again at the course's scale: `lmcourse claims`.

What was found is written to ``data/claims``; `lmcourse.findings` reads it there.
"""
