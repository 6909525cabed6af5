"""What every notebook needs, imported once by the server that forks a process for each of them."""

import ipywidgets  # noqa: F401
import jupytext.contentsmanager  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import scipy.optimize
import scipy.stats  # noqa: F401
import sklearn.linear_model
import sklearn.metrics  # noqa: F401
import torch._dynamo
import torch.utils.flop_counter  # noqa: F401
import transformers  # noqa: F401

import lmcourse.corpus.tasks
import lmcourse.evaluation
import lmcourse.findings
import lmcourse.hub
import lmcourse.models.bert_tasks
import lmcourse.tokenizers
import lmcourse.widgets  # noqa: F401
from lmcourse.corpus import BookWorld

BookWorld()  # its grammar is compiled once per process
