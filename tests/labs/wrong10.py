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


@wrong("10.1", "another pair")
def pairs_turned_round(a, b, cls, sep, length):
    return framed(*shortened(b, a, length - 3), cls, sep)


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


@wrong("10.2", "other places come out")
def words_all(selected, words):
    return words >= 0


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


@wrong("10.4", "logits of ±1000")
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


@wrong("10.5", "all holes are filled at once")
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


@wrong("10.5", "another text comes out")
def fill_with_the_worst(answer, ids, mask_id):
    return torch.where(ids == mask_id, answer(ids).argmin(-1), ids)


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


@wrong("10.6", "it differs")
def windows_one_more(answer, tokens, place, target, widths):
    return losses(answer, tokens, place, target, [w + 1 for w in widths], far)
