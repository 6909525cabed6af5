"""What serves the notebooks: book, slides, workbook, doctor, the tests' runner, the command line.

Nothing that a notebook imports is here; see `lmcourse` for that.
"""
