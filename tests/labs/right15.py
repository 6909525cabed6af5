"""Right answers to lab 15, written differently from the master's."""

from collections import deque
from itertools import groupby, product
from statistics import mean, stdev

import numpy as np
import torch
import torch.nn.functional as F

from lmcourse.models.attention import attend
from lmcourse.models.sentence_tree import Branch, KnowledgeBase, visible_matrix
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("15", RIGHT)


@right("soft")
def soft_by_groups(branches):
    positions, trunk = [], 0
    for number, run in groupby(branches):
        length = len(list(run))
        positions += range(trunk, trunk + length)
        trunk += length if number == -1 else 0
    return positions


@right("soft")
def soft_by_counts(branches):
    return [
        branches[:i].count(-1) + (branches[:i].count(b) if b != -1 else 0)
        for i, b in enumerate(branches)
    ]


@right("soft")
def soft_in_tensors(branches):
    of = torch.tensor(branches)
    trunk = (of == -1).cumsum(0)
    earlier = ((of[:, None] == of).tril(-1).sum(1)) * (of != -1)
    return torch.where(of == -1, trunk - 1, trunk + earlier)


@right("soft")
def soft_from_the_parent(branches):
    positions = np.zeros(len(branches), int)
    last = {}
    for i, b in enumerate(branches):
        parent = last.get(b, last.get(-1, -1))
        positions[i] = positions[parent] + 1 if parent >= 0 else 0
        last[b] = i
    return positions


@right("soft")
def soft_by_a_stack(branches):
    result, root = [], -1
    for i, b in enumerate(branches):
        if b == -1:
            root += 1
            result.append(root)
        else:
            result.append(result[-1] + 1 if branches[i - 1] == b else root + 1)
    return tuple(result)


@right("visible")
def visible_by_paths(branches, entities):
    trunk = [i for i, b in enumerate(branches) if b == -1]
    paths = [trunk]
    for number, (start, end) in enumerate(entities):
        paths.append(trunk[start:end] + [i for i, b in enumerate(branches) if b == number])
    matrix = torch.zeros(len(branches), len(branches), dtype=torch.bool)
    for path in paths:
        matrix[np.ix_(path, path)] = True
    return matrix


@right("visible")
def visible_pair_by_pair(branches, entities):
    position = [branches[:i].count(-1) for i in range(len(branches))]

    def is_visible(i, j):
        if branches[i] == branches[j]:
            return 1
        for a, b in ((i, j), (j, i)):
            if branches[a] != -1 and branches[b] == -1:
                start, end = entities[branches[a]]
                return int(start <= position[b] < end)
        return 0

    n = len(branches)
    return [[is_visible(i, j) for j in range(n)] for i in range(n)]


@right("visible")
def visible_by_membership(branches, entities):
    """Two tokens are visible to each other if one path contains both: a product of matrices."""
    of = np.array(branches)
    at = np.cumsum(of == -1) - 1
    rows = [of == -1]
    for number, (start, end) in enumerate(entities):
        rows.append((of == number) | (of == -1) & (start <= at) & (at < end))
    paths = np.stack(rows).astype(int)
    return (paths.T @ paths) > 0


@right("visible")
def visible_by_the_package(branches, entities):
    of = torch.tensor(branches)
    anchors = (of == -1).cumsum(0) - 1
    kept = [Branch(start, end, ("fact",)) for start, end in entities]
    return visible_matrix(kept, of, anchors)


@right("visible")
def visible_as_floats(branches, entities):
    trunk = [i for i, b in enumerate(branches) if b == -1]
    matrix = torch.zeros(len(branches), len(branches))
    matrix[np.ix_(trunk, trunk)] = 1.0
    for i, b in enumerate(branches):
        if b >= 0:
            for j in [*trunk[slice(*entities[b])], *(k for k, c in enumerate(branches) if c == b)]:
                matrix[i, j] = matrix[j, i] = 1.0
    return matrix


@right("inject")
def inject_by_the_package(tokens, triples, k):
    flat = KnowledgeBase(triples, most=k).tree(tokens).flatten()
    return list(flat.tokens), list(flat.soft_positions), list(flat.branches)


@right("inject")
def inject_in_rows(tokens, triples, k):
    rows, at, branch = [], 0, -1
    subjects = sorted((s for s, _, _ in triples), key=len, reverse=True)
    while at < len(tokens):
        entity = next((s for s in subjects if tokens[at : at + len(s)] == s), [tokens[at]])
        rows += [(word, at + i, -1) for i, word in enumerate(entity)]
        at += len(entity)
        kept = []
        for subject, relation, object_ in triples:
            if subject == entity and relation + object_ not in kept and len(kept) < k:
                kept.append(relation + object_)
        for words in kept:
            branch += 1
            rows += [(word, at + i, branch) for i, word in enumerate(words)]
    words, soft, branches = zip(*rows, strict=True)
    return words, torch.tensor(soft), np.array(branches)


@right("inject")
def inject_recursively(tokens, triples, k):
    def rest(at, number):
        if at == len(tokens):
            return []
        sizes = [len(s) for s, _, _ in triples if list(s) == list(tokens[at : at + len(s)])]
        size = max(sizes, default=1)
        end = at + size
        rows = [(tokens[i], i, -1) for i in range(at, end)]
        facts = dict.fromkeys((*r, *o) for s, r, o in triples if list(s) == list(tokens[at:end]))
        for fact in list(facts)[:k]:
            rows += [(word, end + depth, number) for depth, word in enumerate(fact)]
            number += 1
        return rows + rest(end, number)

    rows = rest(0, 0)
    return tuple(list(column) for column in zip(*rows, strict=True))


@right("inject")
def inject_the_entities_first(tokens, triples, k):
    spans, at = [], 0
    while at < len(tokens):
        matching = [len(s) for s, _, _ in triples if tokens[at : at + len(s)] == s]
        spans.append((at, at + max(matching or [1])))
        at = spans[-1][1]
    words, soft, branches = [], [], []
    count = 0
    for start, end in spans:
        words.extend(tokens[start:end])
        soft.extend(range(start, end))
        branches.extend([-1 for _ in range(start, end)])
        facts = []
        for subject, relation, object_ in triples:
            fact = [*relation, *object_]
            if subject == tokens[start:end] and fact not in facts:
                facts.append(fact)
        for fact in facts[:k]:
            words.extend(fact)
            soft.extend(end + i for i in range(len(fact)))
            branches.extend(count for _ in fact)
            count += 1
    return [words, soft, branches]


@right("attention")
def attention_by_the_package(Q, K, V, visible):
    return attend(Q, K, V, visible.unsqueeze(1))


@right("attention")
def attention_fused(Q, K, V, visible):
    mask = visible[:, None].expand(-1, Q.shape[1], -1, -1)
    eye = torch.eye(V.shape[2], dtype=V.dtype).expand(*V.shape[:3], -1)
    weights = F.scaled_dot_product_attention(Q, K, eye, attn_mask=mask).nan_to_num(0.0)
    return weights @ V, weights


@right("attention")
def attention_row_by_row(Q, K, V, visible):
    batch, heads, time, width = Q.shape
    weights = torch.zeros(batch, heads, time, time, dtype=Q.dtype)
    for b, h, i in product(range(batch), range(heads), range(time)):
        keys = visible[b, i].nonzero().flatten()
        if len(keys):
            scores = K[b, h, keys] @ Q[b, h, i] / width**0.5
            weights[b, h, i, keys] = scores.softmax(0)
    return torch.einsum("bhij,bhjd->bhid", weights, V), weights


@right("attention")
def attention_by_exponentials(Q, K, V, visible):
    scores = torch.einsum("bhid,bhjd->bhij", Q, K) / Q.shape[-1] ** 0.5
    mask = visible[:, None].expand_as(scores)
    scores = scores.where(mask, torch.tensor(-1e300, dtype=scores.dtype))
    powers = (scores - scores.max(-1, keepdim=True).values).exp() * mask
    weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-300)
    return weights @ V, weights


@right("attention")
def attention_in_numpy(Q, K, V, visible):
    scores = (Q.numpy() @ K.numpy().swapaxes(-1, -2)) / np.sqrt(Q.shape[-1])
    M = np.where(visible.numpy()[:, None], 0.0, -np.inf)
    scores = scores + M
    largest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
    total = powers.sum(-1, keepdims=True)
    weights = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    return weights @ V.numpy(), weights


@right("reach")
def reach_by_search(visible, layers):
    n = len(visible)
    fewest = torch.full((n, n), -1)
    for start in range(n):
        fewest[start, start] = 0
        queue = deque([start])
        while queue:
            i = queue.popleft()
            for j in visible[i].nonzero().flatten().tolist():
                if fewest[start, j] < 0:
                    fewest[start, j] = fewest[start, i] + 1
                    queue.append(j)
    steps = torch.arange(layers + 1)[:, None, None]
    return (fewest >= 0) & (fewest <= steps), fewest


@right("reach")
def reach_by_powers(visible, layers):
    n = len(visible)
    step = ((visible + torch.eye(n)) > 0).double()
    now, powers = torch.eye(n).double(), []
    for _ in range(max(layers, n) + 1):
        powers.append(now > 0)
        now = (step @ now).clamp(max=1)
    stack = torch.stack(powers)
    fewest = torch.where(stack.any(0), stack.int().argmax(0), -1)
    return stack[: layers + 1], fewest


@right("reach")
def reach_by_shortest_paths(visible, layers):
    n = len(visible)
    distance = torch.full((n, n), torch.inf).masked_fill(visible, 1.0)
    distance.fill_diagonal_(0.0)
    for middle in range(n):
        distance = distance.minimum(distance[:, middle, None] + distance[None, middle])
    reached = [(distance <= layer).tolist() for layer in range(layers + 1)]
    return reached, distance.nan_to_num(posinf=-1.0)


@right("reach")
def reach_by_sets(visible, layers):
    n = len(visible)
    neighbors = [{i} | {j for j in range(n) if visible[i, j]} for i in range(n)]
    sets, history = [{i} for i in range(n)], []
    fewest = np.full((n, n), -1)
    for layer in range(max(n, layers) + 1):
        history.append([[int(j in each) for j in range(n)] for each in sets])
        for i, each in enumerate(sets):
            for j in each:
                if fewest[i, j] < 0:
                    fewest[i, j] = layer
        sets = [set().union(*(sets[j] for j in neighbors[i])) for i in range(n)]
    return np.array(history[: layers + 1]), fewest


@right("compare")
def compare_in_numpy(predictions, answers, stated, t):
    chosen, true, told = (each.numpy() for each in (predictions, answers, stated))
    accuracy = (chosen == true).mean(-1)
    difference = accuracy - accuracy[:1]
    half = t * difference.std(-1, ddof=1) / np.sqrt(chosen.shape[1])
    wrong = (told >= 0) & (told != true)
    believed = ((chosen == told[:, None]) & wrong[:, None]).sum((1, 2))
    count = wrong.sum(-1) * chosen.shape[1]
    trust = np.where(count > 0, believed / np.maximum(count, 1), -1.0)
    return accuracy, difference.mean(-1), half, trust


@right("compare")
def compare_by_loops(predictions, answers, stated, t):
    accuracy, means, halves, trust = [], [], [], []
    for chosen, told in zip(predictions.tolist(), stated.tolist(), strict=True):
        truth = answers.tolist()
        accuracy.append(
            [mean(float(a == b) for a, b in zip(run, truth, strict=True)) for run in chosen]
        )
        differences = [a - b for a, b in zip(accuracy[-1], accuracy[0], strict=True)]
        means.append(mean(differences))
        halves.append(t * stdev(differences) / len(differences) ** 0.5)
        wrong = [q for q, fact in enumerate(told) if fact not in (-1, truth[q])]
        trust.append(
            mean(float(run[q] == told[q]) for run in chosen for q in wrong) if wrong else -1
        )
    return accuracy, means, halves, trust


@right("compare")
def compare_with_masks(predictions, answers, stated, t):
    right_ones = predictions.eq(answers).float()
    accuracy = right_ones.mean(-1)
    difference = right_ones.mean(-1) - right_ones[0].mean(-1)
    error = difference.var(-1).div(predictions.shape[1]).sqrt()
    wrong = stated.ne(-1).logical_and(stated.ne(answers))[:, None].expand_as(predictions)
    same = predictions.eq(stated[:, None])
    trust = (same & wrong).sum((1, 2)) / wrong.sum((1, 2)).clamp(min=1)
    trust[~wrong.any(2).any(1)] = -1
    return accuracy, difference.mean(-1), t * error, trust


@right("compare")
def compare_by_nanmean(predictions, answers, stated, t):
    _, seeds, questions = predictions.shape
    accuracy = (predictions == answers).sum(2) / questions
    difference = accuracy - accuracy[0]
    centered = difference - difference.mean(1, keepdim=True)
    half = t * (centered.square().sum(1) / (seeds - 1) / seeds).sqrt()
    wrong = (stated != -1) & (stated != answers)
    same = (predictions == stated[:, None]).double().mean(1)
    trust = same.masked_fill(~wrong, torch.nan).nanmean(1).nan_to_num(nan=-1.0)
    return accuracy, difference.mean(1), half, trust
