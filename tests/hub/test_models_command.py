"""`lmcourse models`: what is here, and how to have more."""

import subprocess
import sys

from typer.testing import CliRunner

from coursekit import cli
from research.pretrain.shipping import ship
from tests.hub.saved import small


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["models", *arguments], catch_exceptions=False).output


def test_it_says_what_is_here_and_fetches_more(checkpoints, original, request):
    served = request.getfixturevalue("hub")
    commit = served.add("org/tiny-bert", original)
    empty = invoke()
    assert "none yet" in empty and "lmcourse models bert-base-uncased" in empty
    ship("bookworld-mlm", small(), None, "BERT tiny, masked language model")
    assert "BertForMaskedLM" in invoke("org/tiny-bert")
    shown = invoke()
    assert "  bookworld-mlm  0.0 MB  BERT tiny, masked language model" in shown
    assert f"  org/tiny-bert  0.0 MB  commit {commit[:7]}" in shown


def test_the_hub_loads_on_use():
    code = (
        "import sys, lmcourse;"
        "assert 'torch' not in sys.modules;"
        "assert callable(lmcourse.hub.load);"
        "assert 'transformers' not in sys.modules and 'huggingface_hub' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
