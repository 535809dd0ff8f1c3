import pytest

from experiments.running.runner import run_all
from experiments.specs.options import Options
from experiments.studies.splitting import TOYS, plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options()


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    runs = [run for run in plan(FULL) if run.stream in TOYS.values()]
    assert len(runs) == 9
    return run_all(runs, Options(out=tmp_path_factory.mktemp("toy")))


@pytest.fixture(scope="module")
def chapter(toy):
    accuracies = {"sat": 0.6, "entropy": 0.75, "isat": 0.7}
    roots = {"sat": 3, "entropy": 0, "isat": 40}

    def rows_of(run):
        splitting = str(dict(run.method.settings).get("splitting", "isat"))
        return make_rows([accuracies[splitting]] * 3, roots_permanent=[0, 0, roots[splitting]])

    results = make_results(plan(FULL), rows_of)
    results.records.update(toy)
    return report(type(results)(results.records), FULL)


def test_only_the_papers_classifier_is_run():
    assert {run.method.name for run in plan(FULL)} == {"ADF-R paper", "ADF-S paper"}


def test_toy_tells_what_the_paper_argues(chapter):
    check_chapter(chapter, "splitting")
    table = chapter.tables[0]
    assert table.columns == ("", "on B0", "on B1", "on B2", "leaves", "new roots")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["SAT, after B1"] == (1.0, 0.6, 0.3, 3, 0), "SAT has no answer to a batch that overlaps"
    assert rows["entropy, after B1"] == (1.0, 1.0, 0.6, 4, 0)
    assert rows["iSAT, after B1"] == (1.0, 1.0, 0.4, 6, 1)
    assert rows["SAT, after B2"] == (1.0, 0.6, 1.0, 6, 1)
    assert rows["entropy, after B2"] == (1.0, 1.0, 0.9, 6, 0)
    assert rows["iSAT, after B2"] == (1.0, 1.0, 1.0, 9, 2)
    assert "gets 60% with SAT, 100% with entropy and 100% with iSAT" in chapter.findings[0]
    assert "has 60% with SAT, 90% with entropy and 100% with iSAT" in chapter.findings[0]


def test_toy_bars_are_those_of_the_table(chapter):
    plot = chapter.figures[0].plot
    assert plot["data"][0]["x"] == [
        "B0 after B0",
        *(f"B{b} after B1" for b in (0, 1)),
        *(f"B{b} after B2" for b in range(3)),
    ]
    assert {bar["name"]: list(bar["y"]) for bar in plot["data"]} == {
        "SAT": [1.0, 1.0, 0.6, 1.0, 0.6, 1.0],
        "entropy": [1.0, 1.0, 1.0, 1.0, 1.0, 0.9],
        "iSAT": [1.0] * 6,
    }


def test_data_sets_are_told_with_where_others_are_ahead(chapter):
    assert chapter.findings[1].startswith("iSAT: -5.0 points against entropy and +10.0 against SAT")
    told = next(caveat for caveat in chapter.caveats if caveat.startswith("Ahead of iSAT"))
    assert told.startswith("Ahead of iSAT: entropy on LDPA (+5.0), entropy on UIFWA (+5.0)")
    assert "SAT on" not in told
    assert chapter.tables[1].rows[0] == ("LDPA", pytest.approx(0.6), pytest.approx(0.75), pytest.approx(0.7))


def test_new_roots_stand_beside_accuracy(chapter):
    assert chapter.findings[2].endswith("mean over the data sets: SAT 3, entropy 0 and iSAT 40.")
    table = chapter.tables[2]
    assert table.rows[0] == ("LDPA", 3, 0, 40)
    assert table.best == "", "neither many nor few are good"
