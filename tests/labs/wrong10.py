"""Wrong answers to lab 10, as students write them, each with words that only its hint has."""

import math

import torch
import torch.nn.functional as F

from tests.labs.kit import WrongAnswer, wrongs

WRONG: list[WrongAnswer] = []
wrong = wrongs(WRONG)


# ------------------------------------------------------------------ 10.1 a pair of texts


def shortened(a, b, room):
    a, b = list(a), list(b)
    while len(a) + len(b) > room:
        (a if len(a) > len(b) else b).pop()
    return a, b


def framed(a, b, cls, sep):
    return [cls, *a, sep, *b, sep], [0] * (len(a) + 2) + [1] * (len(b) + 1)


@wrong("10.1", "[cls] is missing")
def pairs_without_cls(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 3)
    return [*a, sep, *b, sep], [0] * (len(a) + 1) + [1] * (len(b) + 1)


@wrong("10.1", "the last [sep] is missing")
def pairs_without_the_end(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 3)
    return [cls, *a, sep, *b], [0] * (len(a) + 2) + [1] * len(b)


@wrong("10.1", "the first [sep] is in segment 1")
def pairs_first_mark_in_the_second(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 3)
    return [cls, *a, sep, *b, sep], [0] * (len(a) + 1) + [1] * (len(b) + 2)


@wrong("10.1", "the last [sep] is in segment 0")
def pairs_last_mark_in_the_first(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 3)
    return [cls, *a, sep, *b, sep], [0] * (len(a) + 2) + [1] * len(b) + [0]


@wrong("10.1", "nothing is cut off")
def pairs_of_any_length(a, b, cls, sep, length):
    return framed(a, b, cls, sep)


@wrong("10.1", "need room as well")
def pairs_forget_the_marks(a, b, cls, sep, length):
    return framed(*shortened(a, b, length), cls, sep)


@wrong("10.1", "cut at its end")
def pairs_cut_afterwards(a, b, cls, sep, length):
    ids, segments = framed(a, b, cls, sep)
    return ids[:length], segments[:length]


@wrong("10.1", "only the second text is cut")
def pairs_second_gives_way(a, b, cls, sep, length):
    return framed(a, b[: max(0, length - 3 - len(a))], cls, sep)


@wrong("10.1", "half of the room")
def pairs_half_each(a, b, cls, sep, length):
    half = (length - 3) // 2
    return framed(a[:half], b[:half], cls, sep)


@wrong("10.1", "lost in front")
def pairs_lose_the_front(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) > length - 3:
        (a if len(a) > len(b) else b).pop(0)
    return framed(a, b, cls, sep)


@wrong("10.1", "equally long")
def pairs_first_gives_way(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) > length - 3:
        (a if len(a) >= len(b) else b).pop()
    return framed(a, b, cls, sep)


@wrong("10.1", "each token has one")
def pairs_of_words_alone(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 3)
    return [cls, *a, sep, *b, sep], [0] * len(a) + [1] * len(b)


@wrong("10.1", "b stands in front")
def pairs_turned_round(a, b, cls, sep, length):
    return framed(*shortened(b, a, length - 3), cls, sep)


@wrong("10.1", "changes its argument `a` in place")
def pairs_pop(a, b, cls, sep, length):
    while len(a) + len(b) > length - 3:
        (a if len(a) > len(b) else b).pop()
    return framed(a, b, cls, sep)


@wrong("10.1", "the first [sep] is missing")
def pairs_without_the_middle(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 3)
    return [cls, *a, *b, sep], [0] * (len(a) + 1) + [1] * (len(b) + 1)


@wrong("10.1", "segments come first")
def pairs_segments_first(a, b, cls, sep, length):
    return framed(*shortened(a, b, length - 3), cls, sep)[::-1]


@wrong("10.1", "and then no other")
def pairs_shortened_once(a, b, cls, sep, length):
    a, b = list(a), list(b)
    if len(a) + len(b) + 3 > length:
        (a if len(a) > len(b) else b).pop()
    return framed(a, b, cls, sep)


@wrong("10.1", "two tokens too long")
def pairs_count_one_mark(a, b, cls, sep, length):
    return framed(*shortened(a, b, length - 1), cls, sep)


@wrong("10.1", "one token too long")
def pairs_count_two_marks(a, b, cls, sep, length):
    return framed(*shortened(a, b, length - 2), cls, sep)


@wrong("10.1", "one token too short")
def pairs_below_the_length(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 >= length:
        (a if len(a) > len(b) else b).pop()
    return framed(a, b, cls, sep)


@wrong("10.1", "only the first text is cut")
def pairs_first_alone(a, b, cls, sep, length):
    return framed(a[: max(0, length - 3 - len(b))], b, cls, sep)


@wrong("10.1", "second text is used up")
def pairs_second_then_first(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) > length - 3:
        (b or a).pop()
    return framed(a, b, cls, sep)


@wrong("10.1", "first text is used up")
def pairs_first_then_second(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) > length - 3:
        (a or b).pop()
    return framed(a, b, cls, sep)


@wrong("10.1", "both texts lose a token")
def pairs_pop_both(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) > length - 3:
        a, b = a[:-1], b[:-1]
    return framed(a, b, cls, sep)


@wrong("10.1", "in turn")
def pairs_in_turn(a, b, cls, sep, length):
    texts, turn = [list(b), list(a)], 0
    while sum(map(len, texts)) > length - 3:
        texts[turn % 2].pop()
        turn += 1
    return framed(*texts[::-1], cls, sep)


@wrong("10.1", "longer at first")
def pairs_all_at_once(a, b, cls, sep, length):
    excess = max(0, len(a) + len(b) + 3 - length)
    if len(a) > len(b):
        return framed(a[: len(a) - excess], b, cls, sep)
    return framed(a, b[: len(b) - excess], cls, sep)


@wrong("10.1", "the ids are right and the segments")
def pairs_all_in_one(a, b, cls, sep, length):
    ids, _ = framed(*shortened(a, b, length - 3), cls, sep)
    return ids, [0] * len(ids)


@wrong("10.1", "it should be [cls] a1 a2 a3 a4 [sep]")
def pairs_backward(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 3)
    return framed(a[::-1], b[::-1], cls, sep)


# ------------------------------------------------------------------ 10.2 whole words


@wrong("10.2", "nothing was added")
def words_as_they_were(selected, words):
    return selected.clone()


@wrong("10.2", "only if *all*")
def words_whole_already(selected, words):
    return [
        word >= 0
        and all(s for s, w in zip(selected.tolist(), words.tolist(), strict=True) if w == word)
        for word in words.tolist()
    ]


@wrong("10.2", "*behind* a selected one")
def words_go_on(selected, words):
    result = selected.clone()
    for i in range(1, len(words)):
        if words[i] == words[i - 1] and result[i - 1]:
            result[i] = True
    return result


def words_in_steps(selected, words, steps):
    result = selected.clone()
    for _ in range(steps):
        before = result.clone()
        for i in range(1, len(words)):
            if words[i] == words[i - 1] >= 0:
                result[i] |= before[i - 1]
                result[i - 1] |= before[i]
    return result


@wrong("10.2", "right beside a selected one")
def words_one_step(selected, words):
    return words_in_steps(selected, words, 1)


@wrong("10.2", "up to two places away")
def words_two_steps(selected, words):
    return words_in_steps(selected, words, 2)


@wrong("10.2", "neighbors are added")
def words_and_neighbors(selected, words):
    result = selected.clone()
    result[1:] |= selected[:-1]
    result[:-1] |= selected[1:]
    return result


@wrong("10.2", "only the first piece")
def words_first_pieces(selected, words):
    chosen, seen, result = set(words[selected].tolist()), set(), []
    for word in words.tolist():
        result.append(word in chosen and word not in seen)
        seen.add(word)
    return result


@wrong("10.2", "taken for places")
def words_as_indices(selected, words):
    result = torch.zeros_like(selected)
    for word in words[selected]:
        result[word] = True
    return result


@wrong("10.2", "only the last selected word")
def words_overwrites(selected, words):
    result = torch.zeros_like(selected)
    for word in words[selected]:
        result = words == word
    return result


@wrong("10.2", "the opposite")
def words_turned_round(selected, words):
    return ~torch.isin(words, words[selected])


@wrong("10.2", "special tokens come out")
def words_and_special(selected, words):
    chosen = [-1, *words[selected].tolist()]
    return [word in chosen for word in words.tolist()]


@wrong("10.2", "come out. which numbers")
def words_all(selected, words):
    return words >= 0


@wrong("10.2", "nothing is selected any more")
def words_in_a_set_of_tensors(selected, words):
    chosen = set(words[selected])
    return torch.tensor([word in chosen for word in words])


@wrong("10.2", "pieces *before* a selected one")
def words_go_back(selected, words):
    result = selected.clone()
    for i in range(len(words) - 2, -1, -1):
        if words[i] == words[i + 1] and result[i + 1]:
            result[i] = True
    return result


@wrong("10.2", "only the first selected word")
def words_first_alone(selected, words):
    numbers = words[selected].tolist()
    return [word in numbers[:1] for word in words.tolist()]


@wrong("10.2", "only if its *first* piece")
def words_by_their_first(selected, words):
    starts = torch.cat([torch.tensor([True]), words[1:] != words[:-1]])
    return torch.isin(words, words[selected & starts])


@wrong("10.2", "at least half")
def words_by_majority(selected, words):
    same = words[:, None] == words
    return (same & selected).sum(1) / same.sum(1) >= 0.5


@wrong("10.2", "word 0 is left out")
def words_above_zero(selected, words):
    return torch.isin(words, words[selected]) & (words > 0)


# ------------------------------------------------------------------ 10.3 exactly so many


def smallest(chance, count):
    result = torch.zeros_like(chance, dtype=torch.bool)
    for row in range(len(chance)):
        result[row, chance[row].argsort()[: int(count[row])]] = True
    return result


def raced(chance, maskable, count):
    return smallest(chance.masked_fill(~maskable, 2.0), count)


@wrong("10.3", "on average only")
def exactly_place_by_place(chance, maskable, rate):
    return torch.logical_and(chance < rate, maskable)


@wrong("10.3", "among the selected")
def exactly_with_special(chance, maskable, rate):
    return smallest(chance, (maskable.sum(1) * rate).round().clamp(min=1))


@wrong("10.3", "first ones behind [cls]")
def exactly_from_the_start(chance, maskable, rate):
    result = torch.zeros_like(maskable)
    for row, n in enumerate(maskable.sum(1).tolist()):
        if n:
            order = chance[row, 1 : 1 + n].argsort()
            result[row, 1 + order[: max(1, round(rate * n))]] = True
    return result


@wrong("10.3", "must not end the work")
def exactly_stops_at_nothing(chance, maskable, rate):
    if not maskable.any(dim=1).all():
        return torch.zeros_like(maskable)
    return raced(chance, maskable, (maskable.sum(1) * rate).round().clamp(min=1))


@wrong("10.3", "too few are left")
def exactly_hides_afterwards(chance, maskable, rate):
    return smallest(chance, (maskable.sum(1) * rate).round().clamp(min=1)) & maskable


@wrong("10.3", "length of the row")
def exactly_of_the_row(chance, maskable, rate):
    count = max(1, round(rate * chance.shape[1]))
    return raced(chance, maskable, [count] * len(chance)) & maskable


@wrong("10.3", "largest numbers")
def exactly_largest(chance, maskable, rate):
    return raced(1 - chance, maskable, (maskable.sum(1) * rate).round().clamp(min=1))


@wrong("10.3", "cut off below the point")
def exactly_floor(chance, maskable, rate):
    return raced(chance, maskable, [max(1, int(n * rate)) for n in maskable.sum(1).tolist()])


@wrong("10.3", "rounded up")
def exactly_ceil(chance, maskable, rate):
    return raced(chance, maskable, [math.ceil(n * rate) for n in maskable.sum(1).tolist()])


@wrong("10.3", "one place at least")
def exactly_perhaps_none(chance, maskable, rate):
    return raced(chance, maskable, [round(n * rate) for n in maskable.sum(1).tolist()])


@wrong("10.3", "of the whole batch")
def exactly_in_all(chance, maskable, rate):
    count = sum(max(1, round(n * rate)) for n in maskable.sum(1).tolist())
    flat = chance.masked_fill(~maskable, 2.0).flatten()
    return smallest(flat[None], [count]).view(chance.shape)


@wrong("10.3", "without a maskable place")
def exactly_one_of_nothing(chance, maskable, rate):
    return raced(chance, maskable, (maskable.sum(1) * rate).round().clamp(min=1))


@wrong("10.3", "at other places")
def exactly_the_first(chance, maskable, rate):
    order = torch.arange(chance.shape[1]).expand(chance.shape).double()
    return raced(order / 100, maskable, (maskable.sum(1) * rate).round().clamp(min=1))


@wrong("10.3", "and you select")
def exactly_one_more(chance, maskable, rate):
    return raced(chance, maskable, (maskable.sum(1) * rate).round() + 1)


@wrong("10.3", "changes its argument `chance` in place")
def exactly_in_place(chance, maskable, rate):
    chance[~maskable] = 2.0
    return raced(chance, maskable, (maskable.sum(1) * rate).round().clamp(min=1)) & maskable


@wrong("10.3", "the first text's count")
def exactly_as_the_first(chance, maskable, rate):
    count = max(1, round(rate * int(maskable[0].sum())))
    return raced(chance, maskable, [count] * len(chance)) & maskable


@wrong("10.3", "the largest count of the batch")
def exactly_one_top_k(chance, maskable, rate):
    count = max(1, round(rate * int(maskable.sum(1).max())))
    places = chance.masked_fill(~maskable, 2.0).topk(count, largest=False).indices
    return torch.zeros_like(maskable).scatter(1, places, True) & maskable


@wrong("10.3", "that of all texts together")
def exactly_sum_of_all(chance, maskable, rate):
    count = max(1, round(rate * int(maskable.sum())))
    return raced(chance, maskable, [count] * len(chance)) & maskable


@wrong("10.3", "as in the published code: here n")
def exactly_as_published(chance, maskable, rate):
    count = ((maskable.sum(1) + 2) * rate).round().clamp(min=1)
    return raced(chance, maskable, count) & maskable


@wrong("10.3", "20 places of a text")
def exactly_twenty_at_most(chance, maskable, rate):
    return raced(chance, maskable, (maskable.sum(1) * rate).round().clamp(1, 20)) & maskable


@wrong("10.3", "taken for ranks")
def exactly_sorted_once(chance, maskable, rate):
    count = (maskable.sum(1) * rate).round().clamp(min=1)
    return (chance.masked_fill(~maskable, 2.0).argsort(1) < count[:, None]) & maskable


@wrong("10.3", "taken for places of the row")
def exactly_places_of_the_shorter(chance, maskable, rate):
    result = torch.zeros_like(maskable)
    for row in range(len(chance)):
        own = chance[row][maskable[row]]
        result[row, own.argsort()[: max(1, round(rate * len(own)))]] = True
    return result


# ------------------------------------------------------------------ 10.4 the gradient


def differences(logits, labels):
    truth = F.one_hot(labels.clamp(min=0), logits.shape[-1])
    return (logits.softmax(-1) - truth) * (labels != -100).unsqueeze(-1)


@wrong("10.4", "gradient of the *sum*")
def gradient_of_the_sum(logits, labels):
    return differences(logits, labels)


@wrong("10.4", "number of all places")
def gradient_over_all(logits, labels):
    return differences(logits, labels) / labels.numel()


@wrong("10.4", "each text is averaged")
def gradient_text_by_text(logits, labels):
    return differences(logits, labels) / (labels != -100).sum(1, keepdim=True).unsqueeze(-1)


@wrong("10.4", "sign is turned round")
def gradient_uphill(logits, labels):
    return -differences(logits, labels) / (labels != -100).sum()


@wrong("10.4", "the label is missing")
def gradient_without_label(logits, labels):
    chosen = labels != -100
    return torch.where(chosen[..., None], logits.softmax(-1), 0.0) / chosen.sum()


@wrong("10.4", "for places with the label 0")
def gradient_of_label_zero(logits, labels):
    truth = F.one_hot(labels.clamp(min=0), logits.shape[-1])
    return (logits.softmax(-1) - truth) / (labels != -100).sum()


@wrong("10.4", "taken for no question")
def gradient_positive_labels(logits, labels):
    return differences(logits, labels.masked_fill(labels <= 0, -100)) / (labels > 0).sum()


@wrong("10.4", "with logits near 1000 it is not")
def gradient_overflows(logits, labels):
    chosen = labels != -100
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    truth = F.one_hot(labels.clamp(min=0), logits.shape[-1])
    return torch.where(chosen[..., None], p - truth, 0.0) / chosen.sum().clamp(min=1)


@wrong("10.4", "autograd computed it")
def gradient_by_autograd(logits, labels):
    logits = logits.clone().requires_grad_()
    F.cross_entropy(logits.flatten(0, 1), labels.flatten()).backward()
    return logits.grad


@wrong("10.4", "size of the vocabulary")
def gradient_by_vocabulary(logits, labels):
    return differences(logits, labels) / (labels != -100).sum() / logits.shape[-1]


@wrong("10.4", "logits stand where")
def gradient_of_logits(logits, labels):
    chosen = (labels != -100)[..., None]
    return (logits - F.one_hot(labels.clamp(min=0), logits.shape[-1])) * chosen / chosen.sum()


@wrong("10.4", "wrong size")
def gradient_halved(logits, labels):
    return 0.3 * differences(logits, labels) / (labels != -100).sum()


@wrong("10.4", "pull, too")
def gradient_everywhere(logits, labels):
    return logits.softmax(-1) / (labels != -100).sum()


@wrong("10.4", "a batch that asks nothing")
def gradient_of_nothing(logits, labels):
    return differences(logits, labels) / (labels != -100).sum()


@wrong("10.4", "derivative of")
def gradient_of_squares(logits, labels):
    return differences(logits, labels) ** 2 / (labels != -100).sum()


def gradient_by_powers(logits, labels, shift):
    chosen = labels != -100
    powers = (logits - shift).exp()
    p = powers / powers.sum(-1, keepdim=True)
    truth = F.one_hot(labels.clamp(min=0), logits.shape[-1])
    return torch.where(chosen[..., None], p - truth, 0.0) / chosen.sum().clamp(min=1)


@wrong("10.4", "largest logit of *this* place")
def gradient_one_shift(logits, labels):
    return gradient_by_powers(logits, labels, logits.max())


@wrong("10.4", "only if the *largest* logit")
def gradient_shifted_by_the_mean(logits, labels):
    return gradient_by_powers(logits, labels, logits.mean(-1, keepdim=True))


@wrong("10.4", "(`clamp`)")
def gradient_clamped(logits, labels):
    return gradient_by_powers(logits.clamp(-700, 700), labels, 0)


@wrong("10.4", "near -1000, yours gives")
def gradient_clamped_below(logits, labels):
    shift = logits.max(-1, keepdim=True).values.clamp(min=0)
    return gradient_by_powers((logits - shift).clamp(min=-700), labels, 0)


@wrong("10.4", "and then the mean of these")
def gradient_mean_of_means(logits, labels):
    count = (labels != -100).sum(1, keepdim=True).unsqueeze(-1)
    return differences(logits, labels) / count / len(labels)


@wrong("10.4", "over the places of a text")
def gradient_softmax_over_time(logits, labels):
    chosen = labels != -100
    truth = F.one_hot(labels.clamp(min=0), logits.shape[-1])
    return (logits.softmax(1) - truth) * chosen[..., None] / chosen.sum()


@wrong("10.4", "over the texts of the batch")
def gradient_softmax_over_texts(logits, labels):
    chosen = labels != -100
    truth = F.one_hot(labels.clamp(min=0), logits.shape[-1])
    return (logits.softmax(0) - truth) * chosen[..., None] / chosen.sum()


@wrong("10.4", "this is p (1 − p)")
def gradient_of_the_probability(logits, labels):
    chosen, p = labels != -100, logits.softmax(-1)
    return p * (1 - p) * chosen[..., None] / chosen.sum()


@wrong("10.4", "a factor p (1 − p) too many")
def gradient_as_of_a_sigmoid(logits, labels):
    p = logits.softmax(-1)
    return differences(logits, labels) * p * (1 - p) / (labels != -100).sum()


# ------------------------------------------------------------------ 10.5 several holes


def filled(answer, ids, mask_id, choose):
    ids = ids.clone()
    while (ids == mask_id).any():
        p = answer(ids)
        place = choose(p, (ids == mask_id).nonzero().flatten().tolist())
        ids[place] = p[place].argmax()
    return ids


@wrong("10.5", "still there")
def fill_nothing(answer, ids, mask_id):
    answer(ids)
    return ids


@wrong("10.5", "asked once")
def fill_at_once(answer, ids, mask_id):
    return torch.where(ids == mask_id, answer(ids).argmax(-1), ids)


@wrong("10.5", "from the left")
def fill_from_the_left(answer, ids, mask_id):
    return filled(answer, ids, mask_id, lambda p, holes: holes[0])


@wrong("10.5", "from the right")
def fill_from_the_right(answer, ids, mask_id):
    return filled(answer, ids, mask_id, lambda p, holes: holes[-1])


@wrong("10.5", "*least* likely")
def fill_least_sure(answer, ids, mask_id):
    return filled(answer, ids, mask_id, lambda p, holes: min(holes, key=lambda i: p[i].max()))


@wrong("10.5", "after the first word")
def fill_asks_twice(answer, ids, mask_id):
    ids, p = ids.clone(), answer(ids)
    place = max((ids == mask_id).nonzero().flatten().tolist(), key=lambda i: p[i].max())
    ids[place] = p[place].argmax()
    return torch.where(ids == mask_id, answer(ids).argmax(-1), ids)


@wrong("10.5", "settled by the first answers")
def fill_in_the_first_order(answer, ids, mask_id):
    ids, sure = ids.clone(), answer(ids).amax(-1)
    holes = (ids == mask_id).nonzero().flatten().tolist()
    for place in sorted(holes, key=lambda i: -sure[i]):
        ids[place] = answer(ids)[place].argmax()
    return ids


@wrong("10.5", "that has no holes")
def fill_first_and_ask_then(answer, ids, mask_id):
    ids = ids.clone()
    while True:
        p = answer(ids)
        place = p.amax(-1).masked_fill(ids != mask_id, -1.0).argmax()
        ids[place] = p[place].argmax()
        if not (ids == mask_id).any():
            return ids


@wrong("10.5", "come out changed")
def fill_everything(answer, ids, mask_id):
    return (answer(ids).argmax(-1) + 1) % 5


@wrong("10.5", "never asked")
def fill_without_a_model(answer, ids, mask_id):
    return torch.where(ids == mask_id, torch.arange(len(ids)) % 5, ids)


@wrong("10.5", "asked several times")
def fill_asks_for_the_original(answer, ids, mask_id):
    filled = ids.clone()
    while (filled == mask_id).any():
        p = answer(ids)
        place = p.amax(-1).masked_fill(filled != mask_id, -1.0).argmax()
        filled[place] = p[place].argmax()
    return filled


@wrong("10.5", "the words are those of the first answer")
def fill_with_old_words(answer, ids, mask_id):
    words = answer(ids).argmax(-1)
    ids = ids.clone()
    while (ids == mask_id).any():
        place = answer(ids).amax(-1).masked_fill(ids != mask_id, -1.0).argmax()
        ids[place] = words[place]
    return ids


@wrong("10.5", "farthest ahead")
def fill_by_margin(answer, ids, mask_id):
    def margin(row):
        return row.sort().values[-1] - row.sort().values[-2]

    return filled(answer, ids, mask_id, lambda p, holes: max(holes, key=lambda i: margin(p[i])))


@wrong("10.5", "smallest entropy")
def fill_by_entropy(answer, ids, mask_id):
    def entropy(row):
        return -(row * row.log()).sum()

    return filled(answer, ids, mask_id, lambda p, holes: min(holes, key=lambda i: entropy(p[i])))


@wrong("10.5", "mean of log p")
def fill_by_mean_log(answer, ids, mask_id):
    return filled(
        answer, ids, mask_id, lambda p, holes: max(holes, key=lambda i: p[i].log().mean())
    )


def fill_some(answer, ids, mask_id, take):
    """In each round all holes that ``take(best, surest hole)`` names."""
    ids = ids.clone()
    while (ids == mask_id).any():
        best, word = answer(ids).max(-1)
        best = best.masked_fill(ids != mask_id, -1.0)
        ids = torch.where((ids == mask_id) & take(best), word, ids)
    return ids


def fill_above(threshold):
    def fill(answer, ids, mask_id):
        return fill_some(
            answer, ids, mask_id, lambda best: (best > threshold) | (best == best.max())
        )

    fill.__name__ = f"fill_above_{threshold}"
    return fill


@wrong("10.5", "with 2 open holes, and not again")
def fill_all_that_are_likely(answer, ids, mask_id):
    return fill_above(0.5)(answer, ids, mask_id)


@wrong("10.5", "with 5 open holes, and then with 3")
def fill_two_at_a_time(answer, ids, mask_id):
    return fill_some(
        answer, ids, mask_id, lambda best: best >= best.topk(2).values[-1].clamp(min=0.0)
    )


@wrong("10.5", "again and again")
def fill_any_place(answer, ids, mask_id):
    ids = ids.clone()
    while (ids == mask_id).any():
        best, word = answer(ids).max(-1)
        ids[best.argmax()] = word[best.argmax()]
    return ids


@wrong("10.5", "and leave it there")
def fill_and_hide_again(answer, ids, mask_id):
    given, last = ids, 0
    while (ids == mask_id).any():
        best, word = answer(ids).max(-1)
        place = best.masked_fill(ids != mask_id, -1.0).argmax()
        ids = given.clone()
        ids[place] = word[place]
        last += 1
    return ids


@wrong("10.5", "in yours it goes on with")
def fill_with_the_second_best(answer, ids, mask_id):
    ids = ids.clone()
    while (ids == mask_id).any():
        p = answer(ids)
        place = p.amax(-1).masked_fill(ids != mask_id, -1.0).argmax()
        ids[place] = p[place].argsort()[-2]
    return ids


@wrong("10.5", "look at the holes that are still open")
def fill_another_text(answer, ids, mask_id):
    ids = ids.clone()
    ids[-1] = 0
    return filled(answer, ids, mask_id, lambda p, holes: max(holes, key=lambda i: p[i].max()))


# ------------------------------------------------------------------ 10.6 how much context


def losses(answer, tokens, place, target, widths, hides):
    found = []
    for width in widths:
        hidden = [i for i in range(len(tokens)) if hides(i - place, width)]
        found.append(-answer(tokens, hidden)[hidden.index(place)][target].log())
    return torch.stack(found)


def far(d, width):
    return d == 0 or abs(d) > width


@wrong("10.6", "the row is the first one")
def windows_first_row(answer, tokens, place, target, widths):
    return [
        -answer(tokens, [i for i in range(len(tokens)) if far(i - place, w)])[0, target].log()
        for w in widths
    ]


@wrong("10.6", "exactly `width` away")
def windows_too_narrow(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, lambda d, w: d == 0 or abs(d) >= w)


@wrong("10.6", "ends before b")
def windows_half_open(answer, tokens, place, target, widths):
    found = []
    for width in widths:
        visible = set(range(place - width, place + width)) - {place}
        hidden = [place, *(i for i in range(len(tokens)) if i not in visible | {place})]
        found.append(-answer(tokens, hidden)[0, target].log())
    return found


@wrong("10.6", "cut to the window")
def windows_cut(answer, tokens, place, target, widths):
    found = []
    for width in widths:
        start = max(0, place - width)
        part = tokens[start : place + width + 1]
        found.append(-answer(part, [place - start])[0, target].log())
    return found


@wrong("10.6", "to the right stays visible")
def windows_left_only(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, lambda d, w: d == 0 or d < -w)


@wrong("10.6", "to the left stays visible")
def windows_right_only(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, lambda d, w: d == 0 or d > w)


@wrong("10.6", "everything to the right is hidden")
def windows_causal(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, lambda d, w: d >= 0 or d < -w)


@wrong("10.6", "the window is hidden")
def windows_turned_round(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, lambda d, w: abs(d) <= w)


@wrong("10.6", "only the hole is hidden")
def windows_without(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, lambda d, w: d == 0)


@wrong("10.6", "these are probabilities")
def windows_probabilities(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, far).neg().exp()


@wrong("10.6", "opposite sign")
def windows_sign(answer, tokens, place, target, widths):
    return -losses(answer, tokens, place, target, widths, far)


@wrong("10.6", "these are bits")
def windows_bits(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, far) / math.log(2)


@wrong("10.6", "for the whole window")
def windows_halved(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, [w // 2 for w in widths], far)


@wrong("10.6", "you hide the positions")
def windows_one_more(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, [w + 1 for w in widths], far)


def hidden_at(tokens, place, width):
    return [i for i in range(len(tokens)) if far(i - place, width)]


@wrong("10.6", "the row is the last one")
def windows_last_row(answer, tokens, place, target, widths):
    return [-answer(tokens, hidden_at(tokens, place, w))[-1, target].log() for w in widths]


@wrong("10.6", "the likeliest word")
def windows_best_word(answer, tokens, place, target, widths):
    rows = [hidden_at(tokens, place, w) for w in widths]
    return [-answer(tokens, each)[each.index(place)].max().log() for each in rows]


@wrong("10.6", "probabilities already")
def windows_softmax_twice(answer, tokens, place, target, widths):
    rows = [hidden_at(tokens, place, w) for w in widths]
    return [-answer(tokens, row)[row.index(place)].log_softmax(-1)[target] for row in rows]


@wrong("10.6", "a mean over all hidden")
def windows_mean(answer, tokens, place, target, widths):
    rows = [hidden_at(tokens, place, w) for w in widths]
    return [-answer(tokens, row)[:, target].log().mean() for row in rows]


@wrong("10.6", "are added up")
def windows_sum(answer, tokens, place, target, widths):
    rows = [hidden_at(tokens, place, w) for w in widths]
    return [-answer(tokens, row)[:, target].log().sum() for row in rows]


@wrong("10.6", "this is 1 − p")
def windows_chance_of_a_mistake(answer, tokens, place, target, widths):
    return 1 - torch.exp(-losses(answer, tokens, place, target, widths, far))


@wrong("10.6", "−log(1 − p)")
def windows_of_the_others(answer, tokens, place, target, widths):
    return -torch.log(1 - torch.exp(-losses(answer, tokens, place, target, widths, far)))


@wrong("10.6", "whatever `widths` holds")
def windows_by_number(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, range(len(widths)), far)


@wrong("10.6", "sorted widths")
def windows_sorted(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, sorted(widths), far)


@wrong("10.6", "everything to the left is hidden")
def windows_backward(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, widths, lambda d, w: d <= 0 or d > w)


@wrong("10.6", "you hide the right positions")
def windows_next_column(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, (target + 1) % 6, widths, far)


@wrong("10.6", "once for each is enough")
def windows_asks_once(answer, tokens, place, target, widths):
    hidden = hidden_at(tokens, place, min(widths))
    return [-answer(tokens, hidden)[hidden.index(place), target].log()] * len(widths)
