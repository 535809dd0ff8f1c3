import pytest

from experiments.running.runner import run_all
from experiments.specs.options import Options
from experiments.studies.splitting import TOY, plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options()


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    runs = [run for run in plan(FULL) if run.stream == TOY]
    assert len(runs) == 3
    return run_all(runs, Options(out=tmp_path_factory.mktemp("toy")))


@pytest.fixture(scope="module")
def chapter(toy):
    shares = {"sat": 0.6, "entropy": 0.75, "isat": 0.7}

    def rows_of(run):
        splitting = dict(run.method.settings).get("splitting", "isat")
        return make_rows([shares[str(splitting)]] * 3)

    results = make_results(plan(FULL), rows_of)
    results.records.update(toy)
    return report(type(results)(results.records), FULL)


def test_on_the_toy_only_cutting_leaves_helps_against_contradiction(chapter):
    check_chapter(chapter, "splitting")
    table = chapter.tables[0]
    right = {row[0]: row[3] for row in table.rows}
    assert [right[f"{name}, batch 1"] for name in ("SAT", "entropy", "iSAT")] == [1, 1, 1]
    assert right["SAT, batch 3"] < 1, "SAT has no answer to a batch that overlaps"
    assert right["iSAT, batch 3"] == 1
    leaves = {row[0]: row[4] for row in table.rows}
    assert leaves["iSAT, batch 1"] < leaves["iSAT, batch 2"] < leaves["iSAT, batch 3"]
    assert chapter.findings[0].startswith("Of 30 toy houses the tree has right after three batches: SAT ")
    assert "iSAT 30 with" in chapter.findings[0]


def test_data_sets_are_told_with_where_others_are_ahead(chapter):
    assert chapter.findings[1].startswith("ADF-R paper, iSAT: -5.0 points against entropy and +10.0 against SAT")
    assert chapter.caveats[1].startswith("ADF-R paper: ahead of iSAT: entropy on LDPA (+5.0), entropy on UIFWA (+5.0)")
    assert "SAT on" not in chapter.caveats[1].replace("iSAT", "")
    assert chapter.tables[1].rows[0] == ("LDPA", pytest.approx(0.6), pytest.approx(0.75), pytest.approx(0.7))
