"""The encoder that sees the left side alone, against the one that sees both and is given a mask."""

import pytest
import torch
from torch.nn import functional

from lmcourse.models.deberta import DebertaForMaskedLM
from research.claims.left_to_right import LeftToRightForQuestionAnswering, LeftToRightLM
from research.claims.scale import RELATIVE_SIZES

SIZE = 40


@pytest.fixture(params=range(4))
def made(request):
    """A model, a batch of it, and which tokens are no padding."""
    torch.manual_seed(request.param)
    model = LeftToRightLM(LeftToRightLM.Config(vocab_size=SIZE, **RELATIVE_SIZES)).double().eval()
    ids = torch.randint(5, SIZE, (3, 9))
    mask = torch.arange(9) < torch.tensor([[9], [6], [1]])
    return model, ids.masked_fill(~mask, 0), mask.long()


def test_it_is_the_encoder_of_both_sides_under_a_causal_mask(made):
    model, ids, mask = made
    both = DebertaForMaskedLM(model.config).double().eval()
    both.load_state_dict(model.state_dict())
    past = mask[:, None, :] * torch.ones(9, 9, dtype=torch.long).tril()
    seen = mask.bool()
    given = both(ids, attention_mask=past).logits
    torch.testing.assert_close(model(ids, attention_mask=mask).logits[seen], given[seen])
    unmasked = both(ids, attention_mask=mask).logits
    assert (given - unmasked)[0].abs().max() > 1e-3


def test_each_place_is_asked_for_the_next_token(made):
    model, ids, mask = made
    labels = ids.masked_fill(mask == 0, -100)
    found = model(ids, attention_mask=mask, labels=labels)
    wanted = functional.cross_entropy(
        found.logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100
    )
    torch.testing.assert_close(found.loss, wanted)
    assert model(ids, attention_mask=mask).loss is None


def test_under_a_head_it_still_sees_the_left_side_alone(made):
    model, ids, mask = made
    tuned = LeftToRightForQuestionAnswering.on_top_of(model).double().eval()
    body, on = model.bert.state_dict(), tuned.bert.state_dict()
    assert all(torch.equal(body[name], on[name]) for name in body)
    other = ids.clone()
    other[0, -1] = 3
    before, after = (tuned(it, attention_mask=mask).start_logits[0] for it in (ids, other))
    torch.testing.assert_close(before[:-1], after[:-1])
    assert (before[-1] - after[-1]).abs() > 1e-6
