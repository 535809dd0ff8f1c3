"""The examples of the gallery run, and what their text claims is so."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from experiments.specs.generators import TOY_BATCHES

for library in ("matplotlib", "pandas", "river"):
    pytest.importorskip(library)

EXAMPLES = Path(__file__).parents[2] / "examples"
CLAIMS = {
    "tutorial": lambda it: (
        it["accuracy"]["Sep"] < 0.4 and it["accuracy"]["Oct"] > 0.8 and it["model"].history_[-1].drift == "sustained"
    ),
    "a_class_comes_back": lambda it: (
        it["recall"]["refitted on the last 3"][it["BACK"] - 1] == 0
        and it["recall"]["adaptive forest"][it["BACK"]] > it["recall"]["refitted on everything"][it["BACK"]] + 0.05
        and it["recall"]['adaptive, answer_for="everything"'][it["BACK"] - 1] > 0.5
    ),
    "comparing_with_river": lambda it: all(answers.mean() > 0.8 for answers in it["right"].values()),
    "recovering_from_drift": lambda it: (
        {report.batch for report in it["history"] if report.drift != "none"} >= set(it["changes"])
        and np.mean(it["accuracy"]["adaptive forest"]) > np.mean(it["accuracy"]["refitted on the last 3"]) + 0.03
    ),
    "explaining_predictions": lambda it: (
        it["before"].startswith("sample 0: high 0.")
        and it["after"].startswith("sample 0: low 0.")
        and all(told.splitlines()[4].startswith("  district = centre ") for told in (it["before"], it["after"]))
    ),
    "monitoring": lambda it: it["frame"].shape[0] == 34 and np.nanmean(it["grid"]) > 0.7,
    "noise_mixture_drift": lambda it: (
        [any(report.drift != "none" for report in model.history_) for model in it["models"].values()]
        == [False, False, True]
    ),
    "probabilities_after_a_drift": lambda it: (
        it["table"].loc[("5 batches later", "adaptive forest"), "log loss"] < 0.5
        and it["table"].loc[("5 batches later", "refitted on everything"), "log loss"] > 0.7
        and it["table"].xs("with the change")["log loss"].min() > 1
        and it["frame"].shape[1] == 2
    ),
    "real_stream_in_time_order": lambda it: (
        set(sorted(it["right"], key=lambda name: np.mean(it["right"][name]))[2:])
        == {"adaptive forest", "refitted on the last 3"}
        and np.ptp([np.mean(right) for right in it["right"].values()]) < 0.02
        and len(it["streams"]) > 9
    ),
    "sat_and_isat": lambda it: (
        it["HOUSES"] == TOY_BATCHES
        and [sum(right) for (_, when), right in it["right"].items() if when == "after B2"] == [26, 29, 30]
        and [right[1] for (_, when), right in it["right"].items() if when == "after B1"] == [6, 10, 10]
        and all(model.history_[-1].drift == "none" for trail in it["trails"].values() for model in trail)
    ),
    "threshold_for_rare_classes": lambda it: (
        it["table"]["cheapest threshold so far"].mean() < 0.6 * it["table"]["most likely class"].mean()
        and abs(it["table"]["theoretical threshold"].mean() / it["table"]["cheapest threshold so far"].mean() - 1) < 0.2
    ),
    "unseen_categories": lambda it: (
        it["table"]["known products"].loc[11:].mean() > it["table"]["new products"].loc[11:].mean() + 0.1
    ),
}


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_example(name, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(EXAMPLES)  # as the build does
    plt.switch_backend("agg")
    try:
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        figures = [plt.figure(number) for number in plt.get_fignums()]
        assert figures
        for figure in figures:
            figure.canvas.draw()
            assert np.asarray(figure.canvas.buffer_rgba()).std() > 5, "an empty picture"
        assert CLAIMS[name](names)
    finally:
        plt.close("all")


def test_the_notebook_has_the_cells_of_the_tutorial():
    docs = EXAMPLES.parent / "docs"
    made = runpy.run_path(str(docs / "notebook.py"))
    saved = json.loads((docs / "tutorials" / "tutorial.ipynb").read_text(encoding="utf-8"))
    assert saved == made["notebook"](), "run: python docs/notebook.py"
    code = ["".join(cell["source"]) for cell in saved["cells"] if cell["cell_type"] == "code"]
    assert code[0].startswith("%pip install")
    for cell in code[1:]:
        assert cell in (EXAMPLES / "tutorial.py").read_text(encoding="utf-8")
