"""The setup of a recorded experiment, read from its runs: what was trained, on what, how long."""

from collections.abc import Mapping
from typing import Any

Run = Mapping[str, Any]
FACTS = ("model", "data", "updates", "predicted", "positions", "start")
_EVERY_TOKEN = {"LeftToRightLM", "GPTForCausalLM", "ElmoForPreTraining"}
_PAIRS = {"next": "next sentence", "order": "sentence order"}


def lines(runs: Mapping[str, Run], seeds: list[int]) -> list[str]:
    """Return the setup: a line of what all trained models share, and one for each that differs.

    Args:
        runs: those of a `Finding`, by digest. A shipped network that only served as a start or a
            teacher has no line of its own.
        seeds: over which the scores are.
    """
    trained: dict[str, dict[str, str]] = {}
    for run in sorted(runs.values(), key=lambda run: -run["seed"]):  # of a grid, what was chosen
        if run["steps"]:
            trained.setdefault(run["name"], facts(run, runs))
    every = list(trained.values())
    shared = [fact for fact in FACTS if len({it.get(fact) for it in every}) == 1]
    common = [f"{fact}: {every[0][fact]}" for fact in shared if every and fact in every[0]]
    common.append(f"seeds: {', '.join(map(str, seeds))}")
    found = [f"Setup. {_sentence(common)}"]
    for name, own in trained.items():
        differing = [f"{fact}: {own[fact]}" for fact in FACTS if fact in own and fact not in shared]
        if differing:
            found.append(f"“{name}”. {_sentence(differing)}")
    return found


def facts(run: Run, runs: Mapping[str, Run]) -> dict[str, str]:
    """Return what one run was: each of `FACTS` that applies."""
    recipe, budget = run["recipe"], run["recipe"]["budget"]
    about = "questions about authors" if "arm" in recipe else "BookWorld reviews"
    found = {
        "model": _model(run),
        "data": f"{budget['reviews']:,} {about}",
        "updates": f"{run['steps']:,} of {budget['batch_size']} examples, {_rates(budget)}",
        "predicted": _predicted(recipe),
        "start": _start(run, runs),
    }
    positions = _positions(run, runs)
    return found | ({"positions": positions} if positions else {})


def _sentence(parts: list[str]) -> str:
    joined = "; ".join(parts)
    return f"{joined[0].upper()}{joined[1:]}."


def _rates(budget: Mapping[str, Any]) -> str:
    first = ", a copying phase first" * bool(budget.get("repeats"))
    if budget["matrix_rate"] is None:
        return f"rate {budget['learning_rate']:g}{first}"
    return f"rates {budget['matrix_rate']:g} (matrices) and {budget['learning_rate']:g}{first}"


def _class(recipe: Mapping[str, Any]) -> str:
    return str(recipe["model"]).rsplit(".", 1)[-1]


def _model(run: Run) -> str:
    settings, parts = run["recipe"]["settings"], [_class(run["recipe"])]
    if layers := settings.get("num_hidden_layers"):
        parts.append(f"{layers} layer{'s' * (layers != 1)}")
    if width := settings.get("hidden_size"):
        parts.append(f"width {width}")
    return ", ".join([*parts, f"{run['parameters']:,} parameters"])


def _predicted(recipe: Mapping[str, Any]) -> str:
    kind, masks = _class(recipe), recipe.get("masks")
    if "arm" in recipe:
        return f"the answer, at {recipe['arm']['reads'].replace('entity', 'the author')}"
    if kind.endswith("ForQuestionAnswering"):
        return "start and end of an answer"
    if kind in _EVERY_TOKEN:
        return "every token"
    if masks is None:
        window = recipe["windows"]
        return f"words within {window['window']}, {window['negatives']} negatives each"
    share = f"{masks['rate']:.0%} of the tokens{' in spans' * (masks['select'] == 'spans')}"
    found = [f"{share}, {_replacement(masks)}"]
    if "copies" in recipe:
        found.append(f"{recipe['copies']} fixed mask{'s' * (recipe['copies'] != 1)} per review")
    if kind == "ElectraPair":
        found.append("replaced or original at every token")
    if "asks" in recipe:
        found.append(_PAIRS[recipe["asks"]])
    if "distillation" in recipe:
        weights = {
            "soft targets": recipe["distillation"],
            "masked words": recipe["masked_words"],
            "cosine": recipe["cosine"],
        }
        used = ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
        found.append(f"weights of the losses: {used}, T = {recipe['temperature']:g}")
    return ", ".join(found)


def _replacement(masks: Mapping[str, Any]) -> str:
    if masks["masked"] == 1:
        return "all replaced by [MASK]"
    kept = 1 - masks["masked"] - masks["random"]
    return f"{masks['masked']:.0%} [MASK], {masks['random']:.0%} random, {kept:.0%} unchanged"


def _positions(run: Run, runs: Mapping[str, Run]) -> str:
    """Relative or absolute; of a fine-tuned network, those of the one that it starts from."""
    settings = run["recipe"].get("settings", {})
    if arm := run["recipe"].get("arm"):
        return f"absolute, {'soft' if arm['form'] in ('tree', 'no matrix') else 'hard'}"
    if not settings.get("relative_attention", True):
        return "none"
    if reach := settings.get("max_relative_positions"):
        terms = ", ".join(settings.get("pos_att_type", ("c2p", "p2c")))
        index = " by δ(j, i)" * settings.get("p2c_as_in_paper", False)
        return f"relative, up to {reach} ({terms}{index})"
    if settings.get("max_position_embeddings"):
        return "absolute"
    source = runs.get(run["source"] or "")
    return _positions(source, runs) if source and source["steps"] else ""


def _start(run: Run, runs: Mapping[str, Run]) -> str:
    recipe, source = run["recipe"], runs.get(run["source"] or "")
    if source is None:
        return "random weights"
    if "start" not in recipe:
        return f"“{source['name']}”"
    if recipe["start"] == "teacher":
        return f"layers of {source['name']}"
    return "random weights"
