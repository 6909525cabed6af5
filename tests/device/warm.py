"""What every notebook needs, imported once by the server that forks a process for each of them."""

import ipywidgets  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import transformers  # noqa: F401

from lmcourse.corpus import BookWorld

BookWorld()  # its grammar is compiled once per process
