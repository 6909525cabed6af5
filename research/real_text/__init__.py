"""Tables on text that people wrote, genres and spam, Zipf's law and tokenizers: `lmcourse texts`.

The corpora are `lmcourse.corpus.brown` and `lmcourse.corpus.mails`; results: ``data/real_text``.
"""
