"""K-BERT adds nothing to BERT but what it reads; what it sees and does not; batches; refusals."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import BertForSequenceClassification, BertForTokenClassification
from lmcourse.models.deberta import DebertaConfig
from lmcourse.models.inputs import IGNORED
from lmcourse.models.kbert import (
    KBert,
    KBertForSequenceClassification,
    KBertForTokenClassification,
    batch_of,
)
from lmcourse.models.roberta import Roberta, RobertaConfig
from lmcourse.models.sentence_tree import TRUNK, Branch, KnowledgeBase, SentenceTree
from lmcourse.models.spanbert import (
    SpanBert,
    SpanBertConfig,
    SpanBertForSequenceClassification,
    SpanBertForTokenClassification,
)
from tests.models.small import BERT, parameters
from tests.parity.comparing import shaken

CONFIG = replace(BERT, max_position_embeddings=20)
TIM, COOK, BEIJING = 11, 12, 13
FACTS = [((TIM, COOK), (3,), (4,)), ((BEIJING,), (5,), (6,)), ((BEIJING,), (7,), (8,))]
SENTENCE = (2, TIM, COOK, 14, 15, BEIJING, 16)
FLAT = KnowledgeBase(FACTS).tree(SENTENCE).flatten()
HEADS = (KBertForSequenceClassification, KBertForTokenClassification)
SPAN = dict(
    zip(HEADS, (SpanBertForSequenceClassification, SpanBertForTokenClassification), strict=True)
)


def plain(*sentences):
    return [SentenceTree(tuple(tokens)).flatten() for tokens in sentences]


@pytest.mark.parametrize("size", ["base", "large"])
def test_it_adds_no_parameter(size):
    config = getattr(BertConfig, size)()
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    theirs = transformers.BertConfig(**{name: getattr(config, name) for name in names})
    with torch.device("meta"):
        own, bert = KBert(config), Bert(config)
        assert parameters(own) == parameters(bert) == parameters(transformers.BertModel(theirs))
    assert own.state_dict().keys() == bert.state_dict().keys()


def test_another_variants_settings_are_refused():
    """Their model would ignore them."""
    for kind in (KBert, *HEADS, Bert):
        words = f"{kind.__name__} got DebertaConfig.*Give BertConfig"
        with pytest.raises(CourseError, match=words):
            kind(DebertaConfig(23, 12, 2, 3, 20))


def test_sentences_of_which_nothing_is_known_are_read_as_by_bert():
    model = shaken(KBert(CONFIG))
    bert = Bert(CONFIG).eval()
    bert.load_state_dict(model.state_dict())
    given = batch_of(plain((2, 5, 6, 7, 3), (2, 8, 3)))
    ids, mask = given["input_ids"], torch.tensor([[1] * 5, [1] * 3 + [0] * 2])
    expected = bert(ids, mask)
    for result in (model(**given), model(ids, mask)):
        ours, theirs = result.last_hidden_state, expected.last_hidden_state
        torch.testing.assert_close(ours[mask.bool()], theirs[mask.bool()])
        torch.testing.assert_close(result.pooler_output, expected.pooler_output)


def touched(layers, place):
    """The tokens whose states change with the embedding of one."""
    model = shaken(KBert(replace(CONFIG, num_hidden_layers=layers)).double())
    given = batch_of([FLAT])
    x = model.embeddings.word(given.pop("input_ids")).detach().requires_grad_()
    states = model(inputs_embeds=x, **given).last_hidden_state[0]
    found = []
    for token, state in enumerate(states):
        (gradient,) = torch.autograd.grad(state.cos().sum(), x, retain_graph=True)
        if gradient[0, place].abs().max() > 1e-12:
            found.append(token)
    return found


def test_knowledge_reaches_its_entity_in_one_layer_and_through_it_the_sentence():
    # [CLS] Tim Cook (CEO Apple) is visiting Beijing (capital China) (is_a City) now
    apple, china = 4, 9
    assert touched(1, apple) == [1, 2, 3, 4]
    assert touched(1, china) == [7, 8, 9]
    # The second layer takes it from the entity to the sentence and to the entity's other branches.
    assert touched(2, apple) == [0, 1, 2, 3, 4, 5, 6, 7, 12]
    assert touched(2, china) == [0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12]


def test_in_one_layer_all_of_the_sentence_but_its_entities_is_as_without_knowledge():
    model = shaken(KBert(replace(CONFIG, num_hidden_layers=1)).double())
    known, unknown = (
        model(**batch_of(trees)).last_hidden_state[0] for trees in ([FLAT], plain(SENTENCE))
    )
    own = [n for n, branch in enumerate(FLAT.branches) if branch == TRUNK]
    same = (known[own] - unknown).abs().amax(-1) < 1e-12
    assert same.tolist() == [True, False, False, True, True, False, True]


def test_the_order_of_an_entitys_facts_changes_nothing():
    model = shaken(KBert(CONFIG).double())
    turned = KnowledgeBase([FACTS[0], FACTS[2], FACTS[1]]).tree(SENTENCE).flatten()
    one, other = (model(**batch_of([tree])).last_hidden_state[0] for tree in (FLAT, turned))
    order = [*range(8), 10, 11, 8, 9, 12]
    torch.testing.assert_close(one, other[order])


def test_the_fused_attention_agrees_with_the_readable_one_and_shows_the_visible_matrix():
    model, given = shaken(KBert(CONFIG)), batch_of([FLAT, *plain((2, 5, 3))])
    readable, fused = model(**given, output_attentions=True), model(**given)
    real = given["attention_mask"].diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(readable.last_hidden_state[real], fused.last_hidden_state[real])
    for weights in readable.attentions:
        assert torch.equal(weights > 0, given["attention_mask"][:, None].expand_as(weights))


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_its_heads_stand_on_any_pretrained_bert(kind, tmp_path):
    pretrained = shaken(BertForMaskedLM(CONFIG))
    model = kind.on_top_of(pretrained, num_labels=2)
    assert type(model.bert) is KBert
    for name, tensor in pretrained.bert.state_dict().items():
        assert torch.equal(model.bert.state_dict()[name], tensor)
    model.save(tmp_path / "model.safetensors")
    again, given = kind.load(tmp_path / "model.safetensors"), batch_of([FLAT])
    assert torch.equal(again(**given).logits, model.eval()(**given).logits)
    assert type(kind.on_top_of(model).bert) is KBert
    assert type(BertForTokenClassification.on_top_of(model).bert) is Bert
    with pytest.raises(CourseError, match="needs KBert, but got Roberta"):
        kind.on_top_of(Roberta(RobertaConfig(23, 12, 2, 3, 20)))


@pytest.mark.parametrize(
    ("kind", "berts", "other"),
    [
        (HEADS[0], BertForSequenceClassification, BertForTokenClassification),
        (HEADS[1], BertForTokenClassification, BertForSequenceClassification),
    ],
    ids=["sequences", "tokens"],
)
def test_what_a_bert_was_tuned_for_is_kept(kind, berts, other):
    tuned = shaken(berts(CONFIG)).eval()
    ids = torch.tensor([[2, 5, 6, 3]])
    for pretrained in (tuned, kind.on_top_of(tuned)):
        model = kind.on_top_of(pretrained, hidden_dropout_prob=0.3, num_labels=3)
        assert model.config.hidden_dropout_prob == 0.3
        assert torch.equal(model(ids).logits, tuned(ids).logits)
        model.classifier.dense.weight.data.zero_()
        assert tuned.classifier.dense.weight.all()  # a copy
    model = kind.on_top_of(shaken(SPAN[kind](SpanBertConfig(23, 12, 2, 3, 20, num_labels=3))))
    assert model.classifier.dense.bias.any()
    for model in (kind.on_top_of(tuned, num_labels=2), kind.on_top_of(shaken(other(CONFIG)))):
        assert not model.classifier.dense.bias.any()  # drawn anew


@pytest.mark.parametrize("source", [Bert, BertForMaskedLM, SpanBert, KBert])
def test_a_bert_becomes_a_kbert(source, tmp_path):
    config = SpanBertConfig(23, 12, 2, 3, 20) if source is SpanBert else CONFIG
    pretrained = shaken(source(config).double())
    body = getattr(pretrained, "bert", pretrained)
    model, ids = KBert.on_top_of(pretrained, pad_token_id=None), torch.tensor([[2, 5, 6, 3]])
    assert type(model) is KBert and model.config.pad_token_id is None and not model.training
    assert torch.equal(model(ids).last_hidden_state, body(ids).last_hidden_state)
    model.embeddings.word.weight.data.zero_()
    assert body.embeddings.word.weight.any()  # a copy


def test_the_way_from_a_berts_file_is_named(tmp_path):
    path = tmp_path / "bert.safetensors"
    Bert(CONFIG).save(path)
    for kind in (KBert, *HEADS):
        words = rf"it is, Bert\.load\(…\), and call {kind.__name__}\.on_top_of with what it becomes"
        with pytest.raises(CourseError, match=words):
            kind.load(path)
    with pytest.raises(CourseError, match="needs Bert, but got Roberta"):
        KBert.on_top_of(Roberta(RobertaConfig(23, 12, 2, 3, 20)))


LONG = SentenceTree(tuple(range(1, 16)), tuple(Branch(n, n + 1, (20, 21)) for n in range(15)))


def test_a_tree_of_more_tokens_than_places_is_read_if_its_soft_positions_fit():
    model = shaken(KBert(CONFIG).double())
    given = batch_of([LONG.flatten()])
    assert given["input_ids"].shape == (1, 45) and given["position_ids"].max() == 16
    more = replace(CONFIG, max_position_embeddings=45)
    roomy = KBert(more).double().eval()
    state = model.state_dict()
    places = roomy.state_dict()["embeddings.position.weight"]
    places[:20] = state["embeddings.position.weight"]
    roomy.load_state_dict(state | {"embeddings.position.weight": places})
    torch.testing.assert_close(model(**given).last_hidden_state, roomy(**given).last_hidden_state)
    embedded = model.embeddings.word(given.pop("input_ids"))
    states = model(inputs_embeds=embedded, **given).last_hidden_state
    torch.testing.assert_close(states, roomy(inputs_embeds=embedded, **given).last_hidden_state)


def test_a_tree_whose_soft_positions_do_not_fit_is_named_with_what_cuts_it():
    tree = SentenceTree(tuple(range(1, 16)), (Branch(14, 15, (20,) * 9),))
    with pytest.raises(CourseError, match="position_ids holds the number 23"):
        KBert(CONFIG)(**batch_of([tree.flatten()]))
    KBert(CONFIG)(**batch_of([tree.flatten(max_length=20)]))
    with pytest.raises(CourseError, match=r"21 tokens a sequence; .*20 positions"):
        KBert(CONFIG)(torch.ones(1, 21, dtype=torch.long))


def test_a_batch_is_filled_up_with_what_nobody_sees():
    batch = batch_of([FLAT, *plain((2, 5, 3))], pad_token_id=9)
    assert batch["input_ids"].tolist() == [list(FLAT.tokens), [2, 5, 3] + [9] * 10]
    assert batch["position_ids"].tolist() == [list(FLAT.soft_positions), [0, 1, 2] + [0] * 10]
    seen = batch["attention_mask"]
    assert seen.dtype == torch.bool and torch.equal(seen[0], FLAT.visible)
    assert bool(seen[1, :3, :3].all()) and int(seen[1].sum()) == 9


def test_labels_and_segments_are_those_of_the_sentence():
    labels, segments = [[1, 2, 2, 0, 0, 1, 0], [0, 2, 0]], [[0, 0, 0, 0, 1, 1, 1], [0, 1, 1]]
    batch = batch_of([FLAT, *plain((2, 5, 3))], labels=labels, token_type_ids=segments)
    none = IGNORED
    assert batch["labels"].tolist() == [
        [1, 2, 2, none, none, 0, 0, 1, none, none, none, none, 0],
        [0, 2, 0, *[none] * 10],
    ]
    assert batch["token_type_ids"].tolist() == [
        [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1],
        [0, 1, 1, *[0] * 10],
    ]


def test_tokens_that_are_text_get_their_ids():
    tree = SentenceTree(("Tim", "sings"), (Branch(0, 1, ("CEO",)),))
    ids = {"Tim": 4, "sings": 5, "CEO": 6}
    assert batch_of([tree.flatten()], token_ids=ids)["input_ids"].tolist() == [[4, 6, 5]]


@pytest.mark.parametrize("name", ["labels", "token_type_ids"])
def test_numbers_that_are_not_one_for_each_of_the_sentences_tokens_are_named(name):
    for values in ([[0] * 13], [[0] * 6], [[0] * 7] * 2):
        with pytest.raises(CourseError, match=f"{name} has .*the sentences have .7. tokens"):
            batch_of([FLAT], **{name: values})


def test_numbers_of_any_type_and_trees_one_after_the_other_make_the_same_batch():
    trees = [FLAT, *plain((2, 5, 3))]
    expected = batch_of(trees, labels=[[1] * 7, [0] * 3])
    ids = {token: np.int64(token) for tree in trees for token in tree.tokens}
    rows = [np.ones(7, dtype=np.int32).tolist(), torch.zeros(3, dtype=torch.long).tolist()]
    given = batch_of(iter(trees), token_ids=ids, labels=rows, pad_token_id=None)
    assert all(torch.equal(given[name], expected[name]) for name in expected)
    assert given["input_ids"].dtype == torch.long


@pytest.mark.bad_input
def test_labels_may_be_tensors():
    given = batch_of([FLAT], labels=torch.arange(7)[None])["labels"]
    assert torch.equal(given, batch_of([FLAT], labels=[list(range(7))])["labels"])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"attention_mask": torch.ones(1, 12, 13)}, r"attention_mask has shape \(1, 12, 13\)"),
        ({"position_ids": torch.zeros(1, 12, dtype=torch.long)}, r"position_ids has shape \(1, 12"),
    ],
    ids=["shape", "fewer"],
)
def test_bad_inputs_are_named(changed, words):
    with pytest.raises(CourseError, match=words):
        KBert(CONFIG)(**batch_of([FLAT]) | changed)


@pytest.mark.parametrize("kind", [KBert, *HEADS], ids=lambda kind: kind.__name__)
def test_the_library_has_it_as_a_bert(kind):
    model = shaken(kind(CONFIG))
    reference = model.to_transformers()
    name = kind.__name__.removeprefix("K")
    assert type(reference).__name__ == ("BertModel" if kind is KBert else name)
    again = kind.from_transformers(reference)
    one, other = (each(**batch_of([FLAT])).to_tuple() for each in (model, again))
    assert all(map(torch.equal, one, other))
