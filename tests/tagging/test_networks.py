"""What each network reads, and that it learns."""

import random

import pytest
import torch

from research.tagging import networks
from research.tagging.features import MostFrequentTag
from research.tagging.networks import Tagger, batches, learned
from research.tagging.text import EVERY

KINDS = {
    "lstm": {},
    "delay": {"delay": 1},
    "both": {"bidirectional": True},
    "characters": {"bidirectional": True, "characters": True},
}
WORDS = ["it", "runs", "to", "run", "."]


def tagger_of(text, kind):
    torch.manual_seed(0)
    tagger = Tagger(text, 5, **KINDS[kind])
    for parameter in tagger.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return tagger.eval()


@pytest.mark.parametrize(("kind", "after"), [("lstm", 0), ("delay", 1), ("both", 4)])
def test_a_tag_depends_on_the_words_that_its_network_reads(texts, kind, after):
    tagger = tagger_of(texts[EVERY], kind)
    before = tagger([WORDS])[0]
    for changed in range(len(WORDS)):
        words = [*WORDS[:changed], "the", *WORDS[changed + 1 :]]
        same = [torch.equal(a, b) for a, b in zip(before, tagger([words])[0], strict=True)]
        for at in range(len(WORDS)):
            read = changed <= at + after  # all that is before it, and some words after it
            assert same[at] == (not read), (changed, at)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_has_the_same_tags_in_each_batch(texts, kind):
    text = texts[EVERY]
    tagger = tagger_of(text, kind)
    alone = tagger([WORDS])[0]
    longer = text.train[0].words * 3
    torch.testing.assert_close(tagger([WORDS, longer])[0, : len(WORDS)], alone)
    each = [tagger([it.words])[0].argmax(-1) for it in text.test]
    wanted = [[text.tags[tag] for tag in row.tolist()] for row in each]
    assert tagger.tagged(text.test) == wanted


def test_only_characters_tell_unseen_words_apart(texts):
    text = texts[EVERY]
    assert not {"qqqq", "xxxx"} & set(text.tags_of)
    for kind in KINDS:
        one, other = tagger_of(text, kind)([["qqqq"], ["xxxx"]])
        assert torch.allclose(one, other, atol=1e-5) == (kind != "characters")


def test_in_training_half_of_the_words_that_occur_once_are_unknown(texts):
    text = texts[EVERY]
    once = [word for word, tags in text.tags_of.items() if tags.total() == 1]
    tagger, read = tagger_of(text, "lstm"), []
    tagger.embedding.register_forward_hook(lambda module, inputs, output: read.append(inputs[0]))
    tagger.train()([[*once, "the"]] * 50)
    unknown = read[0] == networks.UNKNOWN
    assert 0.4 < unknown[:, :-1].double().mean() < 0.6 and not unknown[:, -1].any()
    tagger.eval()([[*once, "the"]])
    assert not (read[1] == networks.UNKNOWN).any()


def test_a_batch_has_sentences_of_about_the_same_length(texts):
    sentences = texts[EVERY].train
    found = batches(sentences, 16, random.Random(0))
    assert sorted(number for part in found for number in part) == list(range(len(sentences)))
    lengths = sorted(sorted(len(sentences[it].words) for it in part) for part in found)
    assert [it for part in lengths for it in part] == sorted(len(it.words) for it in sentences)
    assert found != batches(sentences, 16, random.Random(1))


def test_all_of_them_learn_and_characters_help_with_unseen_words(texts):
    text = texts[EVERY]
    right = {"most frequent": text.right(MostFrequentTag(text).tagged(text.test))}
    for kind in KINDS:
        torch.manual_seed(0)
        tagger = Tagger(text, 16, **KINDS[kind])
        learned(tagger, text, 2e-2, 12, seed=0)
        right[kind] = text.right(tagger.tagged(text.test))
    sums = {kind: sum(counts["all"]) for kind, counts in right.items()}
    assert min(sums, key=sums.__getitem__) == "most frequent"
    assert sum(right["characters"]["unseen"]) > sum(right["both"]["unseen"])
