"""Other ways into mistakes that `wrong10` has once: each must get the hint of that mistake."""

import torch

from tests.labs.kit import WrongAnswer, wrongs
from tests.labs.wrong10 import differences, fill_above, framed, hidden_at, raced, shortened

ALSO: list[WrongAnswer] = []
wrong = wrongs(ALSO)


@wrong("10.1", "[cls] is missing")
def pairs_without_cls_and_its_room(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 2)
    return [*a, sep, *b, sep], [0] * (len(a) + 1) + [1] * (len(b) + 1)


@wrong("10.1", "the last [sep] is missing")
def pairs_without_the_end_and_its_room(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 2)
    return [cls, *a, sep, *b], [0] * (len(a) + 2) + [1] * len(b)


@wrong("10.1", "the first [sep] is missing")
def pairs_without_the_middle_and_its_room(a, b, cls, sep, length):
    a, b = shortened(a, b, length - 2)
    return [cls, *a, *b, sep], [0] * (len(a) + 1) + [1] * (len(b) + 1)


@wrong("10.1", "half of the room")
def pairs_half_each_if_too_long(a, b, cls, sep, length):
    if len(a) + len(b) + 3 > length:
        a, b = a[: (length - 3) // 2], b[: (length - 3) // 2]
    return framed(a, b, cls, sep)


@wrong("10.1", "half of the room")
def pairs_larger_half_first(a, b, cls, sep, length):
    if len(a) + len(b) + 3 > length:
        a, b = a[: (length - 2) // 2], b[: (length - 3) // 2]
    return framed(a, b, cls, sep)


@wrong("10.1", "in turn")
def pairs_in_turn_from_the_first(a, b, cls, sep, length):
    texts, turn = [list(a), list(b)], 0
    while sum(map(len, texts)) > length - 3:
        texts[turn % 2].pop()
        turn += 1
    return framed(*texts, cls, sep)


@wrong("10.2", "nothing is selected any more")
def words_and_false(selected, words):
    return selected & False


@wrong("10.3", "of the whole batch")
def exactly_in_all_rounded_once(chance, maskable, rate):
    count = round(rate * int(maskable.sum()))
    flat = chance.masked_fill(~maskable, 2.0).flatten()
    return raced(flat[None], maskable.flatten()[None], [count]).view(chance.shape)


@wrong("10.3", "taken for ranks")
def exactly_sorted_once_with_special(chance, maskable, rate):
    count = (maskable.sum(1) * rate).round().clamp(min=1)
    return chance.masked_fill(~maskable, 2.0).argsort(1) < count[:, None]


@wrong("10.3", "taken for places of the row")
def exactly_places_of_the_shorter_that_may(chance, maskable, rate):
    result = torch.zeros_like(maskable)
    for row in range(len(chance)):
        own = chance[row][maskable[row]]
        result[row, own.argsort()[: max(1, round(rate * len(own)))]] = True
    return result & maskable


@wrong("10.4", "largest logit of *this* place")
def gradient_a_shift_for_each_text(logits, labels):
    powers = (logits - logits.amax((1, 2), keepdim=True)).exp()
    p = powers / powers.sum(-1, keepdim=True)
    p = p - torch.nn.functional.one_hot(labels.clamp(min=0), logits.shape[-1])
    chosen = labels != -100
    return torch.where(chosen[..., None], p, 0.0) / chosen.sum().clamp(min=1)


@wrong("10.4", "(`clamp`)")
def gradient_clamped_early(logits, labels):
    return differences(logits.clamp(-10, 10), labels) / (labels != -100).sum()


@wrong("10.4", "(`clamp`)")
def gradient_clamped_above(logits, labels):
    return differences(logits.clamp(max=80), labels) / (labels != -100).sum()


@wrong("10.5", "asked once")
def fill_in_a_loop_from_one_answer(answer, ids, mask_id):
    p, ids = answer(ids), ids.clone()
    while (ids == mask_id).any():
        place = p.amax(-1).masked_fill(ids != mask_id, -1.0).argmax()
        ids[place] = p[place].argmax()
    return ids


for threshold in (0.3, 0.6, 0.8, 0.9, 0.95):
    wrong("10.5", "words come of one answer")(fill_above(threshold))


@wrong("10.5", "again and again")
def fill_the_visible(answer, ids, mask_id):
    ids = ids.clone()
    while (ids == mask_id).any():
        best, word = answer(ids).max(-1)
        place = best.masked_fill(ids == mask_id, -1.0).argmax()
        ids[place] = word[place]
    return ids


@wrong("10.6", "a mean over all hidden")
def windows_mean_p(answer, tokens, place, target, widths):
    rows = [hidden_at(tokens, place, w) for w in widths]
    return [-answer(tokens, row)[:, target].mean().log() for row in rows]
