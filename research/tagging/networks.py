"""Networks that tag: chapter 04's tagger, with chapter 07's characters, and its training.

A word that training does not have gets the vector of an unknown word. That vector is trained on
words that occur once in training, half of the times that they are read (Lample et al. 2016, "Neural
architectures for named entity recognition", section 4.2).
"""

import random
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from lmcourse.corpus.brown import Sentence
from lmcourse.models.char_cnn import CharacterCNN, CharacterCNNConfig, character_ids
from lmcourse.models.recurrent import Recurrent
from lmcourse.training import train
from lmcourse.training.schedules import linear, scheduled
from research.tagging.text import Text, size

UNKNOWN, PADDING = 0, 1
EMBEDDING = 32  # width of a word's vector, and of the one from its characters
ROWS, AT_ONCE = 16, 128  # a step learns from so many sentences of about the same length
DROPOUT, WARMUP, CLIP = 0.25, 0.05, 1.0
CHARACTERS = CharacterCNNConfig(
    embedding_size=16,
    filters=((3, 50),),
    num_highway_layers=0,
    max_characters=22,
    activation="tanh",
)


class Tagger(nn.Module):
    """Words → LSTM → linear layer: the logits of each token's tag.

    Args:
        text: of which words and tags are known.
        hidden: width of a direction's state.
        bidirectional: whether it also reads from the end.
        delay: how many words it reads after a word before it tags it.
        characters: whether it also reads each word's characters.
    """

    once: Tensor

    def __init__(
        self,
        text: Text,
        hidden: int,
        bidirectional: bool = False,
        delay: int = 0,
        characters: bool = False,
    ) -> None:
        super().__init__()
        self.ids = {word: id_ for id_, word in enumerate(text.tags_of, start=2)}
        self.tags, self.delay = text.tags, delay
        once = [tags.total() == 1 for tags in text.tags_of.values()]
        self.register_buffer("once", torch.tensor([False, False, *once]))
        self.embedding = nn.Embedding(len(once) + 2, EMBEDDING)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.characters = CharacterCNN(CHARACTERS, EMBEDDING) if characters else None
        self.dropout = nn.Dropout(DROPOUT)
        width = EMBEDDING * (1 + characters)
        self.recurrent = Recurrent("lstm", width, hidden, bidirectional=bidirectional)
        self.head = nn.Linear(self.recurrent.output_size, len(self.tags))

    @property
    def num_parameters(self) -> int:
        """Mostly those of the words' vectors."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, sentences: Sequence[Sequence[str]]) -> Float[Tensor, "batch time tag"]:
        """The logits, with arbitrary ones after the end of a sentence."""
        lengths = torch.tensor([len(words) for words in sentences]) + self.delay
        time = int(lengths.max())
        ids = torch.tensor([self._ids(words, time) for words in sentences])
        if self.training:
            ids[self.once[ids] & (torch.rand(ids.shape) < 0.5)] = UNKNOWN
        x = self.embedding(ids)
        if self.characters is not None:
            spelled = character_ids(sentences, CHARACTERS.max_characters)
            x = torch.cat([x, self.characters(spelled)], -1)
        # Padding after the end matters only to what reads from there.
        ends = lengths if self.recurrent.bidirectional else None
        h, _ = self.recurrent(self.dropout(x), lengths=ends)
        return self.head(self.dropout(h[:, self.delay :]))

    def _ids(self, words: Sequence[str], time: int) -> list[int]:
        known = [self.ids.get(word, UNKNOWN) for word in words]
        return known + [PADDING] * (time - len(words))

    @torch.no_grad()
    def tagged(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """A tag for each token."""
        found: dict[int, list[str]] = {}
        for part in batches(sentences, AT_ONCE, random.Random(0)):
            logits = self([sentences[number].words for number in part])
            for number, row in zip(part, logits.argmax(-1).tolist(), strict=True):
                length = len(sentences[number].words)
                found[number] = [self.tags[tag] for tag in row[:length]]
        return [found[number] for number in range(len(sentences))]


def batches(sentences: Sequence[Sentence], rows: int, draw: random.Random) -> list[list[int]]:
    """The numbers of sentences of about the same length, some ``rows`` each, in a random order."""
    order = list(range(len(sentences)))
    draw.shuffle(order)
    order.sort(key=lambda number: len(sentences[number].words))
    found = [order[at : at + rows] for at in range(0, len(order), rows)]
    draw.shuffle(found)
    return found


def learned(tagger: Tagger, text: Text, learning_rate: float, epochs: int, seed: int) -> None:
    """Train a tagger; the learning rate rises to its value and falls to 0 linearly."""
    steps = epochs * len(batches(text.train, ROWS, random.Random(seed)))
    optimizer = torch.optim.Adam(tagger.parameters(), lr=learning_rate, fused=True)
    schedule = scheduled(optimizer, linear(round(WARMUP * steps), steps))
    losses = _losses(tagger, text.train, epochs, random.Random(seed))
    train(tagger, losses, clip=CLIP, optimizer=optimizer, scheduler=schedule, watch="nothing")
    tagger.eval()


def _losses(
    tagger: Tagger, sentences: Sequence[Sentence], epochs: int, draw: random.Random
) -> Iterator[tuple[Tensor, int]]:
    number_of = {tag: number for number, tag in enumerate(tagger.tags)}
    for _ in range(epochs):
        for part in batches(sentences, ROWS, draw):
            read = [sentences[number] for number in part]
            logits = tagger([sentence.words for sentence in read])
            golds = [torch.tensor([number_of[tag] for tag in it.tags]) for it in read]
            gold: Int[Tensor, "batch time"] = pad_sequence(golds, True, padding_value=-100)
            loss = functional.cross_entropy(logits.flatten(0, 1), gold.flatten())
            yield loss, size(read)
