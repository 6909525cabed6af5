"""How the shipped models and the tested claims came to be: `lmcourse pretrain`, `lmcourse claims`.

What notebooks read of it is in `lmcourse.hub` and `lmcourse.findings`.
"""
