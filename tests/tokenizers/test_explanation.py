"""The explanation of a segmentation is what the tokenizer does."""

import pytest
from tokenizers import models, pre_tokenizers

from lmcourse.tokenizers import recipes
from lmcourse.tokenizers.recipes import recipe_of
from lmcourse.tokenizers.well_known import with_parts

TEXTS = ["low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3]
RECIPES = {
    "bpe": recipes.char_bpe(TEXTS, 30),
    "wordpiece": recipes.bert(TEXTS, 40),
    "unigram": recipes.albert(TEXTS, 24),
}
TEXT = "lowest, new ☃wid <unk> [MASK]"


@pytest.mark.parametrize("kind", RECIPES)
def test_the_tokens_are_the_tokenizers(kind):
    tokenizer = RECIPES[kind].tokenizer
    cuts = RECIPES[kind].explained(TEXT)
    tokenizer.encode_special_tokens = True
    wanted = tokenizer.encode(TEXT, add_special_tokens=False)
    tokenizer.encode_special_tokens = False
    assert [token for cut in cuts for token in cut.tokens] == wanted.tokens
    ends = dict(zip(wanted.word_ids, (end - 1 for _, end in wanted.offsets), strict=True))
    assert all(cut.word for cut in cuts) and [cut.position for cut in cuts] == [*ends.values()]


def test_the_steps_are_those_of_the_model():
    (bpe,) = RECIPES["bpe"].explained("lowest")
    steps = RECIPES["bpe"].training.model.steps("lowest").steps[1:]
    assert bpe.steps == tuple((it.pair, f"merge {it.rank + 1}") for it in steps)
    (wordpiece,) = RECIPES["wordpiece"].explained("low☃")
    assert wordpiece.steps[-1] == (("##☃",), "not there at look-up 3")
    assert wordpiece.steps[0][0] == ("low",) and wordpiece.tokens == ("[UNK]",)
    (long,) = RECIPES["wordpiece"].explained("l" * 101)
    assert long.steps == (((), "none of more than 100 characters is looked up"),)
    (unigram,) = RECIPES["unigram"].explained("low")
    best = RECIPES["unigram"].training.model.nbest("▁low", 2)
    assert [pieces for pieces, _ in unigram.steps] == [
        tuple(it.value for it in path.tokens) for path in best
    ]
    assert unigram.steps[0][1] == f"best path, −{-best[0].score:.1f} nats"


def test_dropout_is_left_out_and_what_cannot_be_cut_stays_whole():
    merges = (("b", "c"), ("a", "b"), ("ab", "c"))
    vocab = {token: id_ for id_, token in enumerate(["a", "b", "c", "bc", "ab", "abc"])}
    model = models.BPE(vocab, list(merges), dropout=1.0)
    tokenizer = with_parts(model, pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    abc, lost = recipe_of(tokenizer).explained("abc ☃a")
    assert abc.tokens == ("a", "bc") and abc.greedy == ("abc",)
    assert lost.tokens == ("☃a",) and lost.steps == ()


def test_longest_first_loses_a_character_and_takes_no_special_token():
    unknown, special = RECIPES["bpe"].explained("☃low <unk>w")
    assert unknown.greedy == unknown.tokens == ("<unk>", "low</w>")
    assert "<unk>" in special.greedy and special.greedy[0] == special.tokens[0]
    assert len(special.greedy) == len("<unk>w")


@pytest.mark.parametrize("kind", ["bpe", "wordpiece"])
def test_early_the_model_knew_fewer_pieces(kind):
    recipe = RECIPES[kind]
    tokens = [
        [it for cut in recipe.explained("lowest newest", recipe.early(step)) for it in cut.tokens]
        for step in range(len(recipe.training.steps) + 1)
    ]
    assert len(tokens[0]) == 12 and tokens[-1] == [
        it for cut in recipe.explained("lowest newest") for it in cut.tokens
    ]
    assert sorted(map(len, tokens), reverse=True) == list(map(len, tokens))
