"""Right answers to lab 06, written differently from the master's."""

import codecs
import json
import math
import re
from itertools import pairwise

import numpy as np
import regex
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("06", RIGHT)


@right("merge")
def merge_with_tensors(ids, words, new_id):
    ids, words = torch.tensor(ids), torch.tensor(words)
    pairs = torch.stack([ids[:-1], ids[1:]], 1)
    inside = words[:-1] == words[1:]
    found, counts = pairs[inside].unique(dim=0, return_counts=True)  # sorted
    pair = found[counts == counts.max()][0]
    at = ((pairs == pair).all(1) & inside).nonzero()[:, 0].tolist()
    kept, last = [], -2
    for i in at:
        if i > last + 1:
            kept.append(i)
            last = i
    merged = ids.clone()
    merged[kept] = new_id
    left = torch.ones(len(ids), dtype=torch.bool)
    left[[i + 1 for i in kept]] = False
    return pair, merged[left], words[left]


@right("merge")
def merge_with_the_library(ids, words, new_id):
    """The trainer of the library; letters keep the order of their ids."""
    spelled = ["".join(chr(0x4E00 + i) for i, w in zip(ids, words, strict=True) if w == word)
               for word in dict.fromkeys(words)]  # fmt: skip
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    size = len(set(ids)) + 1
    tokenizer.train_from_iterator(
        [" ".join(spelled)], trainers.BpeTrainer(vocab_size=size, show_progress=False)
    )
    ((a, b),) = json.loads(tokenizer.to_str())["model"]["merges"]
    merged, numbers = [], []
    for number, word in zip(dict.fromkeys(words), spelled, strict=True):
        for token in tokenizer.encode(word).tokens:
            merged.append(new_id if len(token) == 2 else ord(token) - 0x4E00)
            numbers.append(number)
    return (ord(a) - 0x4E00, ord(b) - 0x4E00), merged, np.array(numbers)


@right("merge")
def merge_word_by_word(ids, words, new_id):
    table = {}
    for each, word in zip(ids, words, strict=True):
        table.setdefault(word, []).append(each)
    pairs = [pair for word in table.values() for pair in pairwise(word)]
    best = sorted(set(pairs), key=lambda pair: (-pairs.count(pair), pair[0], pair[1]))[0]
    merged, numbers = [], []
    for number, word in table.items():
        while word:
            found = tuple(word[:2]) == best
            merged.append(new_id if found else word[0])
            numbers.append(number)
            word = word[1 + found :]
    return list(best), merged, numbers


@right("encode")
def encode_with_the_library(ids, merges):
    """Each id is a string that is found again: the letters that it is built from."""
    spelled = {i: chr(97 + i) for i in range(3)}
    while len(spelled) < 3 + len({new for _, new in merges.values()}):
        for (a, b), (_, new) in merges.items():
            if a in spelled and b in spelled:
                spelled[new] = spelled[a] + spelled[b]
    vocab = {token: i for i, token in spelled.items()}
    ordered = sorted(merges, key=lambda pair: merges[pair][0])
    model = models.BPE(vocab, [(spelled[a], spelled[b]) for a, b in ordered])
    return Tokenizer(model).encode("".join(spelled[i] for i in ids)).ids


@right("encode")
def encode_recursively(ids, merges):
    pairs = list(pairwise(ids))
    best = min(pairs, key=lambda pair: merges.get(pair, (math.inf,))[0], default=None)
    if best not in merges:
        return torch.tensor(ids)
    i = pairs.index(best)
    return encode_recursively([*ids[:i], merges[best][1], *ids[i + 2 :]], merges)


@right("wordpiece")
def wordpiece_with_the_library(text, vocab, most):
    model = models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=most)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    encoding = tokenizer.encode(text)
    return encoding.ids, encoding.offsets


@right("wordpiece")
def wordpiece_recursively(text, vocab, most):
    def split(word, start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = "##" * bool(start) + word[start:end]
            if piece in vocab:
                rest = split(word, end)
                return rest if rest is None else [(vocab[piece], start, end), *rest]
        return None

    found = []
    for match in re.finditer(r"\S+", text):
        first, last = match.span()
        pieces = split(match[0], 0) if last - first <= most else None
        if pieces is None:
            pieces = [(vocab["[UNK]"], 0, last - first)]
        found += [(i, first + a, first + b) for i, a, b in pieces]
    return [i for i, _, _ in found], np.array([each[1:] for each in found])


@right("viterbi")
def viterbi_with_the_library(word, log_p, unknown):
    """Where λ is the library's. It joins neighboring unknown characters afterwards."""
    if unknown != min(log_p.values()) - 10:
        return viterbi_from_the_end(word, log_p, unknown)
    model = models.Unigram([("<unk>", 0.0), *log_p.items()], 0)
    ends = []
    for start, end in Tokenizer(model).encode(word).offsets:
        ends += [end] if word[start:end] in log_p else range(start + 1, end + 1)
    score = sum(log_p.get(word[i:j], unknown) for i, j in zip([0, *ends], ends, strict=False))
    return ends, score


@right("viterbi")
def viterbi_from_the_end(word, log_p, unknown):
    n = len(word)
    best = {n: (0.0, [])}
    for i in reversed(range(n)):
        options = []
        for j in range(i + 1, n + 1):
            p = log_p.get(word[i:j], unknown if j == i + 1 else None)
            if p is not None:
                options.append((p + best[j][0], [j, *best[j][1]]))
        best[i] = max(options)
    return best[0][1], torch.tensor(best[0][0])


@right("viterbi")
def viterbi_forward(word, log_p, unknown):
    size = len(word) + 1
    score, back = np.full(size, -np.inf), np.zeros(size, dtype=int)
    score[0] = 0
    for i in range(size - 1):
        for j in range(i + 1, size):
            p = log_p.get(word[i:j])
            if p is None and j == i + 1:
                p = unknown
            if p is not None and score[i] + p > score[j]:
                score[j], back[j] = score[i] + p, i
    ends, j = [], size - 1
    while j:
        ends.append(j)
        j = back[j]
    return np.array(ends[::-1]), score[-1]


@right("stream")
def stream_with_codecs(tokens):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    data = [
        bytes.fromhex(token[3:5]) if token.startswith("<0x") else token.replace("▁", " ").encode()
        for token in tokens
    ]
    return (*(decoder.decode(each) for each in data), decoder.decode(b"", final=True))


@right("stream")
def stream_of_prefixes(tokens):
    """Decode everything after each token; what is incomplete at the end is not shown yet."""
    data, shown, result = b"", "", []
    for token in tokens:
        byte = re.fullmatch("<0x(..)>", token)
        data += bytes([int(byte[1], 16)]) if byte else token.replace("▁", " ").encode()
        text = data.decode(errors="replace")
        try:
            data.decode()
        except UnicodeDecodeError:
            tail = next((k for k in (1, 2, 3) if data[-k] >= 0xC0), 4)
            if tail < 4 and tail < 2 + (data[-tail] >= 0xE0) + (data[-tail] >= 0xF0):
                text = data[:-tail].decode(errors="replace")
        result.append(text[len(shown) :])
        shown = text
    return [*result, data.decode(errors="replace")[len(shown) :]]


@right("symbols")
def symbols_by_a_pattern(text):
    part = "(?:[\U0001f1e6-\U0001f1ff]{2}|.)"
    more = "(?:\u200d[^\u200d\ufe0f\U0001f3fb-\U0001f3ff]?|[\ufe0f\U0001f3fb-\U0001f3ff])*"
    return [len(found) for found in re.findall(part + more, text, flags=re.DOTALL)]


@right("symbols")
def symbols_by_their_starts(text):
    def begins(i):
        if i == 0:
            return True
        here, last = ord(text[i]), ord(text[i - 1])
        if here in (0x200D, 0xFE0F) or 0x1F3FB <= here <= 0x1F3FF or last == 0x200D:
            return False
        run = 0
        while i - run >= 0 and 0x1F1E6 <= ord(text[i - run]) <= 0x1F1FF:
            run += 1
        return run % 2 == 1 or run == 0

    starts = [i for i in range(len(text)) if begins(i)]
    return np.diff([*starts, len(text)]) if text else []


@right("symbols")
def symbols_of_unicode(text):
    """Extended grapheme clusters, Unicode's annex 29."""
    return [len(found) for found in regex.findall(r"\X", text)]
