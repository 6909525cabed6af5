"""A sentence tree as a sequence: soft positions, the visible matrix, and facts in a sentence."""

import zlib
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task
from lmcourse.labs.results import Result, read
from lmcourse.labs.verdict import Wrong

Words = list[str]
Triple = tuple[Words, Words, Words]


def soft_positions(branches: list[int]) -> list[int]:
    positions = list[int]()
    trunk = depth = previous = -1
    for branch in branches:
        if branch == -1:
            trunk += 1
            depth = trunk
        elif branch == previous:
            depth += 1
        else:
            depth = trunk + 1
        positions.append(depth)
        previous = branch
    return positions


def _first_position(arguments: Example, value: Result, wanted: Result) -> str:
    """The first token whose position is wrong, and what kind of token it is."""
    (branches,) = arguments
    ours, right = value.parts[0], wanted.parts[0]
    at = int((ours != right).nonzero()[0])
    number = branches[at]
    kind = "a token of the sentence" if number == -1 else f"a token of branch {number}"
    return (
        f"For branches = {branches}: token {at}, {kind}, has the position {ours[at]:.6g}; "
        f"expected: {right[at]:.0f}."
    )


SOFT = Task(
    soft_positions,
    examples=[
        ([-1, -1, -1, 0, 0, -1, -1, -1, 1, 1, 2, 2, -1],),
        ([-1, 4, 4, 4, 1, 1, -1, -1, 0, 3, 3, 2, 2, 2, -1, -1],),
        ([-1, -1, -1, 2, 2, 2, 0, -1, 3, -1, 1, 1, -1, -1],),
        ([-1, -1, 5, 5, -1, 3, 3, 3, 0, 0, 0, -1, -1, -1, 1, 2, 4, -1],),
    ],
    edge_cases={
        "for a sentence without branches": ([-1, -1, -1, -1],),
        "where the last token has branches": ([-1, -1, 1, 1, 1, 0, 0],),
        "where each token has a branch": ([-1, 2, 2, -1, 0, -1, 1, 1, 1],),
    },
    slips="""
These are the hard positions, the indices in the sequence. A soft position is the depth in the tree.
    positions.append(depth) -> positions.append(len(positions))
The sentence is numbered on from a branch. Its tokens have the positions that they have without any
branch.
    trunk += 1 -> trunk = depth + 1
    or
    trunk += 1 -> trunk = max([-1, *positions]) + 1
The second branch of an entity is numbered on from the first one. Both begin after the entity.
    elif branch == previous: -> elif previous != -1:
A new branch is recognized by a larger number. The numbers need not be in order: a new branch begins
where the number changes.
    elif branch == previous: -> elif previous != -1 and branch <= previous:
    or
    elif branch == previous: -> elif previous != -1 and branch >= previous:
    or
    elif branch == previous: -> elif branch < len(set(branches[: len(positions)])) - 1:
The first token of a branch has another depth than one more than its entity's last token.
    depth = trunk + 1 -> depth = trunk || depth = trunk + 2
The positions begin with 1. They are indices of a table of embeddings, so the first one is 0.
    positions.append(depth) -> positions.append(depth + 1)
All tokens of a branch have the same position. They follow each other.
    depth += 1 -> pass
    or
    elif branch == previous: -> elif False:
    or
    depth = trunk + 1 -> depth = trunk
    depth += 1 -> pass
The positions of a branch are counted from its own beginning. They continue those of its entity.
    depth = trunk + 1 -> depth = 0 || depth = 1
The branches are numbered after the whole sentence, as if they were a text that follows it.
    depth = trunk + 1 -> depth = branches.count(-1)
    or
    depth = trunk + 1 -> depth = max(branches.count(-1) - 1, depth) + 1 if previous == -1 else
        depth + 1
    depth += 1 -> depth = depth + 1
The number of a branch is part of its position. It only names the branch.
    depth = trunk + 1 -> depth = trunk + 1 + branch || depth = branch || depth = trunk + branch
Branch 0 is treated as a part of the sentence, or the sentence as a branch. The sentence has the
number −1.
    if branch == -1: -> if branch <= 0:
    or
    if branch == -1: -> if branch == 0:
A position is an index of a branch only, or of the sentence only: both have positions.
    positions.append(depth) -> positions.append(depth if branch == -1 else 0)
""",
    cause=_first_position,
    note="Several tokens have one position. A position no longer identifies a token, which is why "
    "the visible matrix is needed as well.",
)


def visible_matrix(branches: list[int], entities: list[tuple[int, int]]) -> Tensor:
    of = torch.tensor(branches)
    trunk = of == -1
    at = trunk.cumsum(0) - 1  # a token's position in the sentence
    visible = of[:, None] == of
    for number, (start, end) in enumerate(entities):
        entity = trunk & (at >= start) & (at < end)
        known = of == number
        visible |= entity[:, None] & known
        visible |= known[:, None] & entity
    return visible


def _cells(returned: Any, branches: list[int], entities: Any) -> Tensor:
    """The matrix as 0 and 1; what is added to scores has −∞ at hidden tokens."""
    n = len(branches)
    matrix = read(returned, torch.zeros(n, n, dtype=torch.bool)).parts[0]
    if matrix.shape == (n, n) and bool((matrix < 0).any()):
        raise Wrong("This looks like M, which is added to the scores. Return True where M is 0.")
    if matrix.shape == (n, n) and bool(((matrix != 0) & (matrix != 1)).any()):
        raise Wrong("Each cell is True or False (or 1 or 0): visible or hidden.")
    return matrix


def _cell(arguments: Example, value: Result, wanted: Result) -> str:
    """The first pair of tokens that differs, and what they are."""
    branches, entities = arguments
    if value.parts[0].shape != wanted.parts[0].shape:
        return ""
    i, j = (value.parts[0] != wanted.parts[0]).nonzero()[0].tolist()
    kinds = {i: "", j: ""}
    for token in kinds:
        number = branches[token]
        position = branches[:token].count(-1)
        inside = [n for n, (start, end) in enumerate(entities) if start <= position < end]
        kinds[token] = (
            f"branch {number}, whose entity is [{entities[number][0]}:{entities[number][1]}]"
            if number != -1
            else f"position {position} of the sentence"
            + (f", in the entity of branch {inside[0]}" if inside else ", in no entity")
        )
    words = "hidden from", "visible to"
    ours, right = (words[int(each.parts[0][i, j])] for each in (value, wanted))
    return (
        f"For branches = {branches}: token {j} ({kinds[j]}) is {ours} token {i} ({kinds[i]}); "
        f"expected: {right.split()[0]}."
    )


VISIBLE = Task(
    visible_matrix,
    examples=[
        ([-1, -1, -1, 0, 0, -1, -1, -1, 1, 1, 2, 2, -1], [(1, 3), (5, 6), (5, 6)]),
        ([-1, -1, 2, 2, 2, 0, 0, -1, -1, -1, 3, -1, 1, 1, -1], [(0, 2), (5, 6), (0, 2), (2, 5)]),
        (
            [-1, 1, 1, -1, -1, -1, -1, 3, 0, 0, 0, -1, -1, 2, 2, -1, -1],
            [(2, 5), (0, 1), (5, 7), (2, 5)],
        ),
    ],
    edge_cases={
        "for a sentence without branches": ([-1, -1, -1], []),
        "where the sentence is one entity": ([-1, -1, 1, 0, 0], [(0, 2), (0, 2)]),
    },
    slips="""
The matrix is inverted: True is where a token is visible.
    return visible -> return ~visible
The entities' positions are those in the sentence. You use them as indices of the flattened
sequence.
    trunk.cumsum(0) - 1 -> torch.arange(len(branches))
    or
    entity = trunk & (at >= start) & (at < end) -> entity = (torch.arange(len(of)) >= start) &
        (torch.arange(len(of)) < end)
A branch is visible to the last, or to the first token of its entity only. It is visible to all of
its entity's tokens.
    (at >= start) & (at < end) -> (at == end - 1)
    or
    (at >= start) & (at < end) -> (at == start)
A branch is visible to the whole sentence, and the sentence to it. It is connected to its entity
only.
    trunk & (at >= start) & (at < end) -> trunk
    or
    known[:, None] & entity -> known[:, None] & trunk
    or
    entity[:, None] & known -> trunk[:, None] & known
Entities and branches are hidden from each other: then a fact reaches no token of the sentence.
    visible |= entity[:, None] & known -> pass
    visible |= known[:, None] & entity -> pass
Only one of an entity and its branch is visible to the other. Both are visible to each other.
    visible |= known[:, None] & entity -> pass
    or
    visible |= entity[:, None] & known -> pass
Branches are visible to each other: those of one entity, or all. Only their entity connects them.
    known = of == number -> known = torch.tensor([b >= 0 and entities[b] == (start, end)
        for b in branches]); visible |= known[:, None] & known
    or
    of[:, None] == of -> trunk[:, None] == trunk
Tokens that belong together are hidden: a token is visible to itself, the trunk's tokens are visible
to each other, and so are the tokens of one branch.
    return visible -> return visible & ~torch.eye(len(of), dtype=torch.bool)
    or
    visible = of[:, None] == of -> visible = trunk[:, None] & trunk |
        torch.eye(len(of), dtype=torch.bool)
    or
    visible = of[:, None] == of -> visible = (of[:, None] == of) & ~trunk |
        torch.eye(len(of), dtype=torch.bool)
    or
    return visible -> return visible & ~(trunk[:, None] & trunk & ~torch.eye(len(of),
        dtype=torch.bool))
The entity is one token too long or too short, or begins one too late: it is `[start:end]`, without
`end`.
    (at < end) -> (at <= end)
    or
    (at >= start) & (at < end) -> (at > start) & (at <= end)
    or
    (at >= start) -> (at > start)
    or
    (at < end) -> (at < end - 1)
    or
    trunk.cumsum(0) - 1 -> trunk.cumsum(0)
`entities[n]` is the entity of the branch with the *number* n, not of the n-th branch in the text.
    in enumerate(entities): -> in zip(dict.fromkeys(b for b in branches if b >= 0), entities):
The rest of the sentence is hidden from an entity with a branch, or each from the other. The entity
remains a part of the sentence.
    known = of == number -> known = of == number; rest = trunk & ~entity; visible = visible &
        ~(entity[:, None] & rest)
    or
    known = of == number -> known = of == number; rest = trunk & ~entity; visible = visible &
        ~(entity[:, None] & rest) & ~(rest[:, None] & entity)
Later tokens are hidden, as in a model that predicts the next token. This encoder is bidirectional.
    return visible -> return visible.tril()
""",
    result=_cells,
    cause=_cell,
    note="The matrix is that of the tree's paths: two tokens are visible to each other if one "
    "path from the root contains both, where a branch's path begins with its entity.",
)


def inject(tokens: Words, triples: list[Triple], k: int) -> tuple[Words, list[int], list[int]]:
    facts = dict[tuple[str, ...], list[Words]]()
    for subject, relation, object_ in triples:
        known = facts.setdefault(tuple(subject), [])
        fact = [*relation, *object_]
        if fact not in known:
            known.append(fact)
    flat, soft, branches = Words(), list[int](), list[int]()
    start = number = 0
    while start < len(tokens):
        ends = range(len(tokens), start, -1)
        end = next((e for e in ends if tuple(tokens[start:e]) in facts), start + 1)
        flat += tokens[start:end]
        soft += range(start, end)
        branches += [-1] * (end - start)
        for fact in facts.get(tuple(tokens[start:end]), [])[:k]:
            flat += fact
            soft += range(end, end + len(fact))
            branches += [number] * len(fact)
            number += 1
        start = end
    return flat, soft, branches


def _words(text: str) -> Words:
    return text.split()


def _triples(*lines: str) -> list[Triple]:
    """Triples from lines such as "tim cook | ceo | apple"."""
    parts = ([part.split() for part in line.split("|")] for line in lines)
    return [(subject, relation, object_) for subject, relation, object_ in parts]


def _code(word: Any) -> int:
    return zlib.crc32(str(word).encode()) % 2**31


def _three_lists(returned: Any, *_: Any) -> tuple[Any, ...]:
    """A zero, and the tokens (as numbers), the soft positions and the numbers of the branches."""
    if not isinstance(returned, (list, tuple)) or len(returned) != 3:
        raise Wrong("Return three lists: the tokens, the soft positions, the branch numbers.")
    tokens, *numbers = returned
    if not isinstance(tokens, (list, tuple)) or not all(isinstance(each, str) for each in tokens):
        raise Wrong("The first value is one list of tokens, each a string; join the parts.", "type")
    soft, branches = (read(each, [0]).parts[0] for each in numbers)
    if not len(tokens) == len(soft) == len(branches) or soft.ndim != 1 or branches.ndim != 1:
        raise Wrong(
            "Each token has one soft position and one branch number. Your lists have "
            f"{len(tokens)}, {len(soft)} and {len(branches)} values.",
            "shape",
        )
    codes = torch.tensor([_code(token) for token in tokens]).double()
    _WORDS.update((_code(token), token) for token in tokens[:1000])
    return torch.zeros(()), codes, soft, branches


_WORDS = dict[int, str]()


def _row(arguments: Example, value: Result, wanted: Result) -> str:
    """The first token that differs."""
    rows, right = (
        [
            (_WORDS.get(int(code), "?"), int(soft), int(branch))
            for code, soft, branch in zip(*result.parts[1:], strict=True)
        ]
        for result in (value, wanted)
    )
    at = next(i for i, pair in enumerate(zip_longest(rows, right)) if pair[0] != pair[1])
    shown = [
        f"{row[at][0]!r} with soft position {row[at][1]} and branch {row[at][2]}"
        if at < len(row)
        else "nothing"
        for row in (rows, right)
    ]
    tokens, _, k = arguments
    before = " ".join(row[0] for row in right[:at])
    return (
        f"For {' '.join(tokens)!r} and k = {k}, after {before!r}: {shown[0]}; expected: {shown[1]}."
    )


_COOK = _triples(
    "tim cook | ceo | apple",
    "tim | short for | timothy",
    "cook | is a | job",
    "beijing | capital | china",
    "beijing | is a | big city",
    "beijing | capital | china",
    "beijing | in | asia",
    "apple | makes | phones",
    "tim cook | born in | mobile",
)
_YORK = _triples(
    "new york | state of | america",
    "new | opposite of | old",
    "york times square | is a | place",
    "times | plural of | time",
    "new york city | has | parks",
    "new york | named after | york",
    "york | in | england",
    "square | has | four sides",
    "city | larger than | town",
    "times | kind of | product",
)
_LOOP = _triples(
    "a b | likes | c",
    "c | likes | a b",
    "b | is | d d",
    "c | likes | a b",
    "c | knows | e",
    "a b c d | is | alphabet",
    "d | before | e",
    "c | fears | d",
)

INJECT: Task = Task(
    inject,
    examples=[
        (_words("[CLS] tim cook is visiting beijing now , and beijing likes cook"), _COOK, 2),
        (_words("new york times square is in new york city , not york"), _YORK, 1),
        (_words("c or a b c then a b and b c d"), _LOOP, 2),
        (_words("beijing tim cook and tim met cook tim , beijing"), _COOK, 3),
        (_words("a b c e d a b c d b"), _LOOP, 1),
        (_words("tim cook likes beijing and newly built yorkshire cities"), _COOK + _YORK, 1),
        (_words("Beijing , tim cook and city"), _COOK + _YORK, 0),
        (
            _words("see beijing and tim cook"),
            _triples("beijing | | city", "tim cook | | chief executive", "beijing | | old"),
            2,
        ),
        (_words("tim cook"), [], 2),
    ],
    slips="""
Not the longest subject is matched, but the shortest one, or only subjects of one token, or of two
at most.
    ends = range(len(tokens), start, -1) -> ends = range(start + 1, len(tokens) + 1)
    or
    ends = range(len(tokens), start, -1) -> ends = [start + 1]
    or
    ends = range(len(tokens), start, -1) -> ends = range(min(start + 2, len(tokens)), start, -1)
Matches overlap: tokens of an entity begin another match. The next match begins after the entity.
    start = end -> start += 1
    flat += tokens[start:end] -> flat += tokens[start:start + 1]
    soft += range(start, end) -> soft += range(start, start + 1)
    branches += [-1] * (end - start) -> branches += [-1]
    or
    def inject(tokens, triples, k):
        facts, flat, soft, branches, number = {}, [], [], [], 0
        for subject, relation, object_ in triples:
            known = facts.setdefault(tuple(subject), [])
            if [*relation, *object_] not in known:
                known.append([*relation, *object_])
        for position, token in enumerate(tokens):
            flat.append(token)
            soft.append(position)
            branches.append(-1)
            for begin in range(position + 1):
                for fact in facts.get(tuple(tokens[begin : position + 1]), [])[:k]:
                    flat += fact
                    soft += range(position + 1, position + 1 + len(fact))
                    branches += [number] * len(fact)
                    number += 1
        return flat, soft, branches
The longest subject of the whole sentence is matched first. Go from left to right: at each position,
the longest subject that begins there.
    def inject(tokens, triples, k):
        facts, flat, soft, branches, number = {}, [], [], [], 0
        for subject, relation, object_ in triples:
            known = facts.setdefault(tuple(subject), [])
            if [*relation, *object_] not in known:
                known.append([*relation, *object_])
        ends, taken = {}, set()
        for size in range(len(tokens), 0, -1):
            for start in range(len(tokens) - size + 1):
                span = range(start, start + size)
                if tuple(tokens[start : start + size]) in facts and not taken & {*span}:
                    ends[start + size - 1] = tuple(tokens[start : start + size])
                    taken |= {*span}
        for position, token in enumerate(tokens):
            flat.append(token)
            soft.append(position)
            branches.append(-1)
            for fact in facts.get(ends.get(position), [])[:k]:
                flat += fact
                soft += range(position + 1, position + 1 + len(fact))
                branches += [number] * len(fact)
                number += 1
        return flat, soft, branches
A mention of an entity has the wrong number of facts. Each mention, also a repeated one, has the
first k facts.
    [])[:k]: -> []): || [])[:1]: || [])[-k:] if k else []: || [])[: k + 1]: || [])[: k - number]:
    or
    [])[:k]: -> [])[: max(k - number, 0)]:
    or
    [])[:k]: -> [])[: k * (start == next(i for i in range(len(tokens)) if
        tokens[i : i + end - start] == tokens[start:end]))]:
    or
    start = end -> facts.pop(tuple(tokens[start:end]), None); start = end
These are not the first k facts. They are in the order of the base, where a triple that is listed
twice counts once: remove the second one before you count to k.
    if fact not in known: -> if True:
    or
    if fact not in known: -> if True:
    facts.get(tuple(tokens[start:end]), [])[:k] -> dict.fromkeys(map(tuple,
        facts.get(tuple(tokens[start:end]), [])[:k]))
    or
    known.append(fact) -> known.insert(0, fact)
    or
    [])[:k]: -> [])[::-1][:k]:
    or
    known.append(fact) -> known.append(fact); known.sort()
The branch contains other tokens than the relation and the object, in this order.
    [*relation, *object_] -> [*object_] || [*relation] || [*object_, *relation] ||
        [*subject, *relation, *object_] || [" ".join(relation), " ".join(object_)]
The branch is elsewhere in the sequence: it follows its entity's last token, before the next token
of the sentence.
    flat += tokens[start:end] -> pass
    soft += range(start, end) -> pass
    branches += [-1] * (end - start) -> pass
    start = end -> flat += tokens[start:end]; soft += range(start, end); branches += [-1] * (end -
        start); start = end
    or
    flat += tokens[start:end] -> flat += tokens[start : start + 1]
    soft += range(start, end) -> soft += [start]
    branches += [-1] * (end - start) -> branches += [-1]
    start = end -> flat += tokens[start + 1 : end]; soft += range(start + 1, end); branches += [-1]
        * (end - start - 1); start = end
    or
    return flat, soft, branches -> order = sorted(range(len(flat)), key=lambda i: branches[i]
        != -1); return [flat[i] for i in order], [soft[i] for i in order],
        [branches[i] for i in order]
The soft positions of the sentence are those without knowledge, not the hard positions, and they do
not go on from a branch.
    return flat, soft, -> return flat, [*range(len(flat))],
    or
    soft += range(start, end) -> first = max([-1, *soft]) + 1; soft += range(first, first + end -
        start)
    soft += range(end, end + len(fact)) -> last = first + end - start; soft += range(last, last +
        len(fact))
    or
    soft += range(start, end) -> soft += range(len(flat) - end + start, len(flat))
The soft positions of a branch begin elsewhere. Each branch, also the second of an entity, begins
one after the entity's last token.
    soft += range(end, end + len(fact)) -> soft += range(start + 1, start + 1 + len(fact)) ||
        soft += range(end - 1, end - 1 + len(fact)) || soft += range(end + 1, end + 1 + len(fact))
        || soft += range(start, start + len(fact)) || soft += range(len(fact)) ||
        soft += [end] * len(fact)
    or
    soft += range(end, end + len(fact)) -> soft += range(soft[-1] + 1, soft[-1] + 1 + len(fact))
The branches have other numbers: −1 for the sentence; 0, 1, 2, … from left to right, one for each
fact.
    start = number = 0 -> start, number = 0, 1
    or
    number += 1 -> pass
    start = end -> number += tuple(tokens[start:end]) in facts; start = end
    or
    number += 1 -> pass
    or
    start = end -> start = end; number = 0
    or
    [-1] * (end - start) -> [0] * (end - start)
    or
    [-1] * (end - start) -> [0] * (end - start)
    start = number = 0 -> start, number = 0, 1
Facts about a branch's own tokens are added as well. The tree has one level: only entities of the
sentence have branches.
    for fact in facts.get(tuple(tokens[start:end]), [])[:k]: -> for fact in [each for own in
        facts.get(tuple(tokens[start:end]), [])[:k] for each in (own,
        *(facts.get(tuple(own[-1:]), [])[:k]))]:
Objects are matched as well. A fact is about its subject.
    for subject, relation, object_ in triples: -> for subject, relation, object_ in [*triples,
        *((o, r, s) for s, r, o in triples)]:
    or
    for subject, relation, object_ in triples: -> for subject, relation, object_ in [each for s, r,
        o in triples for each in ((s, r, o), (o, r, s))]:
""",
    result=_three_lists,
    names=("", "The tokens", "The soft positions", "The branch numbers"),
    cause=_row,
    note="A match says that the words are equal, not that the entity is meant: `cook` may be a "
    "person or a job, and the fact is injected in both cases.",
)
