"""Show the content of a model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson, ModelArgument
from adforest.cli.output import print_json, print_table, say
from adforest.wording import counted, size, utc

MARKS = {"none": "·", "temporary": "t", "sustained": "S"}
BARS = "▁▂▃▄▅▆▇█"


def inspect(
    model: ModelArgument,
    tree: Annotated[int | None, typer.Option(min=0, help="Show only this tree, counted from 0.")] = None,
    forest: Annotated[
        str, typer.Option(help='The forest of the tree: "permanent", "active", "temporary" or "newest".')
    ] = "permanent",
    max_depth: Annotated[int | None, typer.Option(min=0, help="Depth at which the tree ends. Default: 4")] = None,
    batches: Annotated[int, typer.Option(min=0, help="How many of the last batches to list.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show the content of a model: classes, columns, forests, drift, the last batches; or one of its trees."""
    from adforest.cli.model_file import load_model

    loaded = load_model(model)
    if tree is not None:
        _show_tree(loaded, forest, tree, max_depth, as_json=as_json)
        return
    found = _described(loaded, model)
    if as_json:
        print_json(found)
    else:
        _show(found, model, batches)


def _described(model: Any, path: Path) -> dict[str, Any]:
    """Return the content of a model as plain values: its `ModelView` by the names of the command line."""
    from adforest.monitor import ModelView
    from adforest.origins import origins_of

    view, defaults = ModelView.from_estimator(model), type(model)().get_params()
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "kind": view.kind,
        "target": origins_of(model).target,
        "batches": view.n_batches,
        "records": view.n_samples,
        "records_kept": view.memory.n_samples,
        "can_learn": view.memory.is_complete,
        "answering": model.answering_forest_,
        "parameters": {name: value for name, value in model.get_params().items() if value != defaults[name]},
        "classes": [
            {
                "class": value,
                "records": one.n_samples,
                "first_batch": one.first_batch or 0,
                "last_batch": one.last_batch or 0,
            }
            for value, one in zip(model.classes_.tolist(), view.classes, strict=True)
        ],
        "columns": [
            {"column": one.name, "holds": one.kind, "values": one.n_categories, "importance": one.importance}
            for one in sorted(view.columns, key=lambda one: one.position)
        ],
        "forests": [
            {
                "forest": one.name,
                "trees": one.n_trees,
                "leaves": one.n_leaves,
                "depth": one.max_depth,
                "vote": one.vote,
            }
            for one in view.forests
        ],
        "drift": _drift(view.batches),
        "history": [asdict(report) for report in view.batches],
    }


def _drift(reports: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the runs of batches with the same drift."""
    runs = [list(group) for _, group in groupby(reports, key=lambda report: report.drift)]
    return [
        {"drift": run[0].drift, "first_batch": run[0].batch, "last_batch": run[-1].batch}
        for run in runs
        if run[0].drift != "none"
    ]


def _show_tree(model: Any, forest: str, tree: int, max_depth: int | None, *, as_json: bool) -> None:
    """Print one tree."""
    from adforest.monitor import tree_text

    try:
        text = tree_text(model, forest, tree, max_depth=4 if max_depth is None and not as_json else max_depth)
    except IndexError as error:
        raise ValueError(str(error)) from None
    if as_json:
        print_json({"forest": forest, "tree": tree, "text": text.splitlines()})
    else:
        say(text)


def _show(found: dict[str, Any], path: Path, n_shown: int) -> None:
    """Print the content of a model as tables."""
    target = f", target {found['target']}" if found["target"] else ""
    say(f"{path}: {found['kind']}, {size(path.stat().st_size)}{target}")
    kept = (
        f"{found['records_kept']:,} kept to learn from"
        if found["can_learn"]
        else "none kept: it can predict, but not learn"
    )
    say(f"{counted(found['batches'], 'batch')}, {counted(found['records'], 'record')}, {kept}")
    if found["parameters"]:
        say("parameters: " + ", ".join(f"{name} {value}" for name, value in found["parameters"].items()))
    say()
    total = max(sum(one["records"] for one in found["classes"]), 1)
    print_table(
        "classes",
        ("class", "records", "fraction", "first batch", "last batch"),
        [
            (
                str(one["class"]),
                f"{one['records']:,}",
                f"{one['records'] / total:.1%}",
                _number(one["first_batch"]),
                _number(one["last_batch"]),
            )
            for one in found["classes"]
        ],
    )
    columns = sorted(found["columns"], key=lambda one: -one["importance"])
    print_table(
        "columns, by importance",
        ("column", "holds", "values", "importance"),
        [(one["column"], one["holds"], _number(one["values"]), f"{one['importance']:.3f}") for one in columns],
    )
    print_table(
        f"forests; the {found['answering']} one has the most weight in the vote",
        ("forest", "trees", "leaves", "depth", "vote"),
        [
            (
                one["forest"],
                f"{one['trees']}",
                f"{one['leaves']:,}",
                f"{one['depth']}",
                f"{one['vote']:.2f}",
            )
            for one in found["forests"]
        ],
    )
    _show_batches(found, n_shown)


def _show_batches(found: dict[str, Any], n_shown: int) -> None:
    """Print drift over time and the last batches."""
    history = found["history"]
    say(f"drift from batch {history[0]['batch']} to {history[-1]['batch']}: {_in_words(found['drift'])}")
    for start in range(0, len(history), 60):
        part = history[start : start + 60]
        say(f"  accuracy {''.join(_bar(one['accuracy'].get('vote')) for one in part)}")
        say(f"  drift    {''.join(MARKS.get(one['drift'], '?') for one in part)}")
    say()
    last = history[-n_shown:] if n_shown else []
    if last:
        print_table(
            f"the last {counted(len(last), 'batch')}" if len(last) > 1 else "the last batch",
            ("batch", "learnt at", "records", "classes", "drift", "accuracy", "answers", "source"),
            [
                (
                    f"{one['batch']}",
                    "" if one["learnt_at"] is None else utc(one["learnt_at"]),
                    f"{one['n_samples']:,}",
                    one["scenario"],
                    "-" if one["drift"] == "none" else one["drift"],
                    f"{one['accuracy']['vote']:.3f}" if "vote" in one["accuracy"] else "-",
                    one["answering"],
                    _source(one),
                )
                for one in last
            ],
        )


def _source(report: dict[str, Any]) -> str:
    """Return the files of a batch, and its rows in them."""
    if not report["source"]:
        return ""
    first, *others = report["source"]
    rows = "" if report["rows"] is None else " {:,} to {:,}".format(*report["rows"])
    return f"{first}{f' +{len(others)}' if others else ''}{rows}"


def _in_words(stretches: list[dict[str, Any]]) -> str:
    """Return the runs of batches with drift as text."""
    if not stretches:
        return "none"
    texts = [
        f"{one['drift']} in batch {one['first_batch']}"
        if one["first_batch"] == one["last_batch"]
        else f"{one['drift']} in batches {one['first_batch']} to {one['last_batch']}"
        for one in stretches[-8:]
    ]
    return ("…, " if len(stretches) > 8 else "") + ", ".join(texts)


def _bar(value: float | None) -> str:
    """Return a value from 0 to 1 as a bar one character wide; nothing where there is none."""
    return " " if value is None else BARS[min(int(value * len(BARS)), len(BARS) - 1)]


def _number(value: int | None) -> str:
    """Return a number, nothing where there is none."""
    return f"{value:,}" if value else ""
