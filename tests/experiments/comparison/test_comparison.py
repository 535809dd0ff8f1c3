import pytest

from experiments.comparison.comparison import Comparison, points
from experiments.specs.methods import default_settings, with_settings
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import plan_runs
from made_up import make_results, make_rows

STREAMS = {"A": StreamSpec("a"), "B": StreamSpec("b")}
METHODS = {"ours": MethodSpec("ADF-R"), "wider": MethodSpec.of("ADF-R", window_size=5)}


def test_settings_that_a_method_has_anyway_make_no_other_method():
    default = default_settings("ADF-R")["window_size"]
    assert with_settings("ADF-R", window_size=default) == MethodSpec("ADF-R")
    assert with_settings("ADF-R", window_size=default + 1, splitting="sat").settings == (
        ("splitting", "sat"),
        ("window_size", default + 1),
    )
    assert with_settings("ADF-R paper", splitting="isat") == MethodSpec("ADF-R paper")
    with pytest.raises(KeyError, match="windows"):
        with_settings("ADF-R", windows=3)


def found(seeds=(0, 1)):
    accuracies = {("a", "ours"): 0.8, ("a", "wider"): 0.7, ("b", "ours"): 0.5, ("b", "wider"): 0.8}
    names = {method: name for name, method in METHODS.items()}
    runs = [
        RunSpec(stream, method, seed)
        for stream in STREAMS.values()
        for name, method in METHODS.items()
        for seed in (seeds if name == "wider" else (0, 1))
    ]

    def rows_of(run):
        # Streams of odd seeds are easier for everyone, by as much.
        return make_rows([accuracies[run.stream.name, names[run.method]] + 0.1 * run.seed] * 2)

    return Comparison(make_results(runs, rows_of), STREAMS, "accuracy", METHODS)


def test_gaps_are_taken_seed_by_seed():
    gap = found().gap("A", "ours", "wider")
    assert gap.by_seed == pytest.approx((0.1, 0.1))
    assert gap.deviation == pytest.approx(0)
    assert found().mean_gap("ours", "wider") == pytest.approx(-0.1)
    assert found().mean("wider") == pytest.approx(0.8)


def test_gaps_are_over_the_seeds_that_both_ran_with():
    assert found(seeds=(1,)).gap("B", "wider", "ours").by_seed == pytest.approx((0.3,))


def test_table_has_a_row_for_each_stream_and_their_means():
    table = found().table("t")
    assert table.columns == ("data set", "ours", "wider")
    assert [row[0] for row in table.rows] == ["A", "B", "mean"]
    assert table.rows[0][1] == "0.850 ± 0.071"
    assert table.rows[2][1:] == pytest.approx((0.7, 0.8))


def test_plan_is_every_variant_on_every_stream_with_every_seed():
    runs = plan_runs(STREAMS, METHODS.values(), range(3))
    assert len(runs) == len(set(runs)) == 2 * 2 * 3


def test_points_have_a_sign():
    assert [points(0.0123), points(-0.5)] == ["+1.2", "-50.0"]
