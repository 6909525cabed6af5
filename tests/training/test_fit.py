"""The plain loop takes the steps of the other one, exactly; and Ctrl-C ends it after a step."""

import signal
from copy import deepcopy

import pytest
import torch
from torch import nn

from lmcourse.corpus import windows
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.training import BatchLosses, MaskedLM, Masking, fit, train, window_losses
from lmcourse.training.schedules import linear, scheduled


def rnn_windows():
    """A recurrent model, and the losses of 24 windows of a text."""
    model = RNNLanguageModel(RNNConfig(7, 4, 8, "lstm", num_layers=2, dropout=0.2))
    ids = torch.randint(7, (2 * 24 * 5 + 1,))
    return model, window_losses(model, windows(ids, 2, 5))


def masked_batches():
    """A masked language model, and the losses of 24 batches, no two of equal weight."""
    model = BertForMaskedLM(BertConfig.tiny(vocab_size=30))
    texts = [{"input_ids": torch.randint(30, (length,)).tolist()} for length in range(3, 12)]
    return model, BatchLosses(MaskedLM(model, Masking(4, 30)), texts, steps=24, batch_size=4)


@pytest.mark.parametrize("clip", [None, 0.1])
@pytest.mark.parametrize("task", [rnn_windows, masked_batches])
def test_both_loops_have_equal_parameters_and_losses(task, clip):
    found = []
    for loop in (fit, train):
        torch.manual_seed(0)
        model, losses = task()
        before = deepcopy(model.state_dict())
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        schedule = scheduled(optimizer, linear(3, 30))
        parts = {"optimizer": optimizer, "scheduler": schedule, "clip": clip, "watch": "nothing"}
        found.append((loop(model, losses, **parts), model.state_dict(), schedule.get_last_lr()))
    (history, state, rate), (other, others, other_rate) = found
    assert history == other and rate == other_rate
    assert len(history.losses) == 24 and max(history.gradient_norms) > 0.1  # some are clipped
    for name, tensor in state.items():
        assert torch.equal(tensor, others[name]) and not torch.equal(tensor, before[name])


@pytest.mark.parametrize("press", [2, 5])
def test_ctrl_c_ends_it_after_the_step_and_keeps_what_was_learned(press, capsys):
    model, weights = nn.Linear(1, 1), []

    def losses():
        for step in range(5):
            if step == press:
                signal.raise_signal(signal.SIGINT)
            yield model(torch.ones(1, 1)).square().sum()
            weights.append(model.weight.item())
        if press == 5:  # after the last step
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            fit(model, losses(), watch="log")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    taken = min(press + 1, 5)
    assert f"{taken} steps · loss" in capsys.readouterr().err
    assert len(weights) == press  # no loss was computed after it …
    assert (model.weight.item() == weights[-1]) == (press == 5)  # … and the step was taken
