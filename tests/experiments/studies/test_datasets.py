from dataclasses import replace

import pytest

from experiments.comparison.published import read_published
from experiments.comparison.results import Results
from experiments.running.runner import run_all
from experiments.specs import selections
from experiments.specs.options import Options
from experiments.studies.datasets import DEFINITIONS, plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options()
TITLE_OF = {spec.name: title for title, spec in selections.dataset_streams(FULL, "whole").items()}
FEATURES = {"LDPA": 5, "UIFWA": 4, "EB": 4, "AReM": 6, "Avila": 10, "House": 9}


def published(title, column):
    return read_published("datasets").value(title, column)


def made_up(off_by, n_samples=None):
    """Return results as far above the published accuracies as a mapping says, by definition."""
    definition_of = {method: title for title, method in DEFINITIONS.items()}

    def rows_of(run):
        title = TITLE_OF[run.stream.name]
        size = int((n_samples or {}).get(title, published(title, "records")))
        right = published(title, "classification_accuracy") + off_by[definition_of[run.method]]
        return make_rows([right], n_train=size - 10, n_test=10, n_classes=int(published(title, "classes")))

    results = make_results(plan(FULL), rows_of)
    for run, record in results.records.items():
        columns = {"categorical_features": [False] * FEATURES[TITLE_OF[run.stream.name]]}
        results.records[run] = replace(record, settings=columns)
    return results


FAR = dict.fromkeys(DEFINITIONS, 0.1)


@pytest.mark.parametrize("nearest", DEFINITIONS)
def test_nearest_definition_is_found(nearest):
    chapter = report(made_up({**FAR, nearest: -0.02}), FULL)
    check_chapter(chapter, "datasets")
    assert chapter.findings[1].startswith(f"Nearest to the published accuracies is {nearest}: 2.0 points off")
    at_a_glance = chapter.tables[0].rows[0]
    assert at_a_glance == ("LDPA", "164,860 / 164,860", "6 / 6", "11 / 11", pytest.approx(0.54), 0.56, "-2.0 points")
    explained = any("A Hoeffding tree looks at each sample once" in caveat for caveat in chapter.caveats)
    assert explained == ("Hoeffding" in nearest)


def test_distance_leaves_out_the_data_set_that_is_ours():
    results = made_up(FAR)
    house = next(run for run in plan(FULL) if run.stream.name == "house")
    results.records[house].rows[0]["accuracy"] = 0.0
    table = report(results, FULL).tables[1]
    assert table.rows[-1][1:-1] == pytest.approx([0.1] * len(DEFINITIONS))
    assert [row[-1] for row in table.rows[:-1]] == [published(title, "classification_accuracy") for title in FEATURES]


def test_counts_that_differ_are_told():
    same = report(made_up(FAR), FULL)
    assert same.findings[0] == "Samples, features and classes are those of the paper's table."
    other = report(made_up(FAR, {"EB": 40_000}), FULL)
    assert other.findings[0].endswith("but EB has 40,000 records, in the paper 45,781.")


def test_four_fifths_are_learnt_at_once():
    assert {run.stream.variant for run in plan(FULL)} == {"whole"}
    assert {run.stream.name for run in plan(FULL)} == set(TITLE_OF)


def test_real_figures_end_in_a_chapter(monkeypatch, tmp_path):
    pytest.importorskip("river")
    monkeypatch.setattr(selections, "QUICK_SAMPLES", 600)
    quick = Options(quick=True, out=tmp_path)
    chapter = report(Results(run_all(plan(quick), quick)), quick)
    check_chapter(chapter, "datasets")
    assert chapter.tables[0].rows[0][:4] == ("House", "600 / 300,000", "10 / 10", "7 / 7")
    assert any("Quick" in caveat for caveat in chapter.caveats)
