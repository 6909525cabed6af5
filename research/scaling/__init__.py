"""The course's scaling law: causal Transformers of several sizes, trained on several amounts of
BookWorld's text (chapter 19).

`grid` says what is trained, `command` trains what is missing, and `page` shows the record.
"""
