import pytest

from experiments import goals
from experiments.comparison import recovery
from experiments.running.protocols import find_protocol
from experiments.specs import selections
from experiments.specs.options import Options
from experiments.studies import beyond, drift
from made_up import check_chapter, make_results

QUICK = Options(quick=True)


def evaluate(run):
    return find_protocol(run).evaluate(run, None).rows


@pytest.fixture(scope="module")
def results():
    """Run what quick runs would, on streams that are shorter still, and all in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selections, "QUICK_SAMPLES", 600)
        patch.setattr(selections, "NOT_QUICK", ("ARF", "SRP"))
        for module in (recovery, goals.drift):
            patch.setattr(module, "CONCEPTS", ("rules",))
        yield make_results(dict.fromkeys(beyond.plan(QUICK)), evaluate)


@pytest.mark.parametrize(("name", "study"), [("beyond", beyond), ("drift", drift)])
def test_real_figures_end_in_a_chapter(name, study, results):
    chapter = study.report(results, QUICK)
    check_chapter(chapter, name)
    assert any("Quick" in caveat for caveat in chapter.caveats)
    assert chapter.command == f"python -m experiments {name} --quick"
    assert chapter.figures
    assert all(figure.plot["data"] for figure in chapter.figures)
