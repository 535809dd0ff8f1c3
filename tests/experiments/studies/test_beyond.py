from dataclasses import replace

import pytest

from experiments.__main__ import _make_parser
from experiments.goals import accuracy, bounds, classes, cost, drift, recent_and_past, retention
from experiments.goals.goal import above, at_least, at_most
from experiments.reporting.page import LONG
from experiments.specs.methods import N_TREES, with_default_trees
from experiments.specs.options import Options, read_options
from experiments.specs.run_spec import HOLDOUT, LONG_STREAM, RECALL, RESET_AT_CHANGES, TIMED, MethodSpec
from experiments.studies.beyond import GOALS, plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options(n_seeds=2)
STAGES = list("AABBAA")


class World:
    """Rows for every run of the plan; a test worsens one thing and sees one verdict fall."""

    def __init__(self, **changes):
        self.adf = {"accuracy": 0.9, "retention": 0.9, "recent": 0.95, "past": 0.9, "drift": 0.9, "after": 0.88}
        self.adf |= {"seconds": 0.1, "bytes": 1.0, "slow": 1.0, "alarm": "none", "recall": 0.9} | changes

    def rows_of(self, run):
        ours = run.method.name == "ADF-R"
        if run.protocol == TIMED:
            many = {"batch_seconds": 0.2, "last_3_seconds": 0.5, "all_seconds": [None] * 3 + [5.0]}
            many |= {
                "batch_of_10_seconds": 0.15,
                "batch_alike_seconds": 0.4,
                "last_3_alike_seconds": 1.0,
                "all_alike_seconds": [None] * 3 + [9.0],
            }
            return make_rows([0.9] * 4, train_seconds=self.adf["seconds"], **many)
        if run.protocol == LONG_STREAM:
            return self.endless_rows()
        if run.protocol == RECALL:
            recall = self.adf["recall"] if ours else 0.85
            return make_rows([0.9] * 22, **{f"recall_{value}": recall for value in range(11)})
        if run.protocol == RESET_AT_CHANGES:
            return make_rows([0.8, 0.88] * 3, stage=STAGES)
        return self.usual_rows(run, ours)

    def endless_rows(self):
        late = [1.0] * 30 + [1.0] * 240
        seconds, bytes_ = late + [self.adf["slow"]] * 30, late + [self.adf["bytes"]] * 30
        return make_rows([0.9] * 300, train_seconds=seconds, resident_bytes=[value * 1e8 for value in bytes_])

    def usual_rows(self, run, ours):
        if run.stream.name == "clusters":
            return make_rows([self.adf["recent"] if ours else 0.8] * 20, retention=self.adf["past"] if ours else 0.8)
        if run.stream.name == "drift" and run.stream.variant == "none":
            return make_rows([0.9] * 4, drift=["none"] * 3 + [self.adf["alarm"]])
        if run.stream.name == "drift":
            figures = [self.adf["drift"], self.adf["after"]] * 3 if ours else [0.85] * 6
            return make_rows(figures, stage=STAGES)
        unbounded = run.method == bounds.METHODS[bounds.UNBOUNDED]
        if ours:
            figures = {"accuracy": 0.9, "retention": 0.9} if unbounded else self.adf
            return make_rows([figures["accuracy"]] * 3, retention=figures["retention"])
        return make_rows([0.8] * 3, retention=0.9 if run.method.name == "RF all" else 0.6)


def verdicts(**changes):
    """Return the verdicts of all goals in a world where ADF's figures are changed."""
    results = make_results(plan(FULL), World(**changes).rows_of)
    return {goal.TITLE: goal.judge(results, FULL).verdicts for goal in GOALS}


def missed(**changes):
    return [verdict.measure for some in verdicts(**changes).values() for verdict in some if not verdict.is_met]


def test_limits():
    assert at_least("", 1.0, 1.0).is_met
    assert not at_least("", 1.0, 0.999).is_met
    assert not above("", 0.92, 0.92).is_met
    assert above("", 0.92, 0.921).is_met
    assert at_most("", 0, 0.0).is_met
    assert not at_most("", 0.5, 0.51).is_met
    assert at_most("a", 1.3, 2.0).wanted == "at most 1.3"


def test_a_good_world_meets_all_goals():
    assert missed() == []
    chapter = report(make_results(plan(FULL), World().rows_of), FULL)
    check_chapter(chapter, "beyond")
    assert chapter.findings[0].startswith("7 of 7 goals are met. Met: 1 accuracy, 2 retention")
    summary = chapter.tables[0]
    assert summary.title == "Goals"
    assert {row[0] for row in summary.rows} == {goal.TITLE for goal in GOALS}
    assert {row[-1] for row in summary.rows} == {"met"}
    assert not any("Limits not kept" in caveat for caveat in chapter.caveats)


def test_speed_is_judged_against_ten_trees_of_scikit_learn():
    (speed,) = (one for one in verdicts()[recent_and_past.TITLE] if one.measure.startswith("training records"))
    assert speed.seen == pytest.approx(0.15 / 0.1)
    assert "10 trees" in speed.measure


def test_limits_that_are_not_kept_are_the_first_caveat():
    chapter = report(make_results(plan(FULL), World(bytes=2.0).rows_of), FULL)
    assert chapter.findings[0].startswith("6 of 7 goals are met.")
    assert chapter.findings[0].endswith("; missed: 3 bounds.")
    assert chapter.caveats[0] == (
        "Limits not kept: resident memory at the end of 30,000 records, × after a tenth: 2.00, wanted at most 1.3."
    )
    assert [row[-1] for row in chapter.tables[0].rows if row[0] == "3 Bounds"] == ["met", "met", "missed", "met"]


def test_summary_is_short_enough_not_to_be_folded():
    assert sum(map(len, verdicts().values())) <= LONG


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"accuracy": 0.805}, ["points of mean accuracy above RF all", "points of accuracy above memory_size=None"]),
        (
            {"accuracy": 0.799},
            [
                "points of mean accuracy above RF all, mean of data sets",
                "points of mean accuracy above RF all, worst data set",
                "points of accuracy above memory_size=None",
            ],
        ),
        ({"retention": 0.885}, ["points of retention above RF all", "points of retention above memory_size=None"]),
        ({"bytes": 1.31}, ["resident memory at the end of 30,000 records"]),
        ({"slow": 1.5}, ["seconds a batch at the end of 30,000 records"]),
        ({"seconds": 0.26}, ["seconds a batch over refitting the last 3", "training records a second"]),
        ({"drift": 0.83, "after": 0.88}, []),
        ({"drift": 0.8, "after": 0.88}, ["points above the best rival, worst stream", "points above each rival"]),
        ({"after": 0.869}, ["points above a refit told of abrupt changes"]),
        ({"alarm": "sustained"}, ["false sustained drifts in 12 batches"]),
        ({"alarm": "temporary"}, []),
        ({"recent": 0.9199}, ["accuracy on recent records"]),
        ({"past": 0.8799}, ["accuracy on records of all batches"]),
    ],
)
def test_each_figure_has_its_own_verdict(changes, expected):
    found = missed(**changes)
    assert [next((words for words in expected if measure.startswith(words)), measure) for measure in found] == expected


def test_recalls_are_judged_against_refits():
    found = missed(recall=0.84)
    assert len(found) == 4
    assert all("recall of" in measure and "points above RF" in measure for measure in found)


def test_a_forgotten_class_is_noticed():
    rows = make_rows([0.9] * 8, recall_0=[0.9] * 5 + [0.85, 0.84, 0.83])
    assert classes.lost_recall(rows) == pytest.approx(-0.07)
    assert classes.last_recall(rows) == pytest.approx(0.83)


def test_recall_of_new_classes_is_that_of_their_first_batch():
    rows = make_rows([0.9] * 7)
    rows[3] |= {"recall_4": 0.5}
    for row in rows[4:]:
        row["recall_4"] = 1.0
    rows[6] |= {"recall_5": 0.7}
    assert classes.first_recall(rows) == pytest.approx(0.6)


def test_recall_of_rare_classes_is_asked_once_settled():
    rows = make_rows([0.9] * 7, recall_0=[0.0] * 5 + [0.4, 0.6], recall_1=[0.0] * 5 + [0.8, 1.0], recall_2=0.0)
    assert classes.rare_recall(rows) == pytest.approx(0.7)


def test_growth_is_from_the_end_of_the_first_tenth_to_the_last():
    column = [9.0] * 20 + [2.0] * 10 + [7.0] * 240 + [3.0] * 30
    assert bounds.growth(make_rows([0.9] * 300, train_seconds=column), "train_seconds") == pytest.approx(1.5)
    short = [9.0] * 2 + [2.0] + [7.0] * 24 + [4.0] * 3
    assert bounds.growth(make_rows([0.9] * 30, train_seconds=short), "train_seconds") == pytest.approx(2.0)


def test_costs_are_ratios_of_means():
    rows = make_rows([0.9] * 2, train_seconds=[0.1, 0.3], last_3_seconds=[0.2, 0.6], all_seconds=[None, 4.0])
    assert cost.share(rows, "last_3_seconds") == pytest.approx(0.5)
    assert cost.share(rows, "all_seconds") == pytest.approx(0.05)


def test_speed_is_over_all_seeds():
    runs = [run for run in recent_and_past.plan(FULL) if run.protocol == TIMED]
    seconds = {0: (0.1, 0.2), 1: (0.3, 0.6)}

    def rows_of(run):
        ours, theirs = seconds[run.seed]
        return make_rows([0.9] * 3, train_seconds=ours, batch_seconds=theirs)

    timed = make_results(runs, rows_of).with_protocol(TIMED)
    assert recent_and_past.speed_against(timed, recent_and_past.cluster_stream(FULL), "batch_seconds") == pytest.approx(
        2.0
    )


def test_full_plan_is_what_the_goals_ask_for():
    runs = plan(Options(n_seeds=5))
    assert len({run.stream.name for run in accuracy.plan(FULL)}) == 6
    assert {run.seed for run in runs if run.protocol == TIMED and run.stream.name != "clusters"} == {0}
    (endless,) = {run for run in runs if run.protocol == LONG_STREAM}
    counts = dict(endless.stream.options)
    assert counts["n_batches"] * counts["batch_size"] >= 10_000_000
    assert dict(recent_and_past.cluster_stream(FULL).options) == {"n_batches": 20, "batch_size": 4000}
    assert dict(classes.class_streams(FULL)["vanishing"].options)["n_batches"] == classes.LAST_SEEN + 100
    arf = [run for run in recent_and_past.plan(Options(n_seeds=5)) if run.method == MethodSpec("ARF")]
    assert [run.seed for run in arf] == [0]
    for goal in (accuracy, retention, bounds, cost, classes, recent_and_past):
        ours = {run.method for run in goal.plan(FULL) if run.method.name == "ADF-R"}
        assert with_default_trees("ADF-R") in ours
        rivals = {run.method for run in goal.plan(FULL) if run.method.name.startswith("RF")}
        assert all(dict(method.settings)["n_estimators"] >= N_TREES for method in rivals)
    assert set(retention.plan(FULL)) == set(accuracy.plan(FULL))
    assert {run.protocol for run in runs} == {HOLDOUT, RESET_AT_CHANGES, RECALL, TIMED, LONG_STREAM}
    assert set(drift.plan(FULL)) <= set(plan(FULL))


@pytest.mark.parametrize(
    ("arguments", "n_seeds"), [([], 5), (["--quick"], 1), (["--seeds", "1"], 1), (["--quick", "--seeds", "3"], 3)]
)
def test_five_seeds_unless_told(arguments, n_seeds, monkeypatch):
    asked = []
    monkeypatch.setattr("experiments.__main__.run_studies", lambda names, options: asked.append(options))
    from experiments.__main__ import main

    main(["beyond", *arguments])
    assert asked[0].n_seeds == n_seeds


def test_one_seed_is_asked_for_again():
    results = make_results(plan(FULL), World().rows_of)
    assert report(results, replace(FULL, n_seeds=1)).command == "python -m experiments beyond --seeds 1"
    assert report(results, FULL).command == "python -m experiments beyond --seeds 2"
    assert read_options(_make_parser().parse_args(["accuracy"])).n_seeds == 1


def test_some_goals_can_be_picked():
    options = Options(goals=(1, 7))
    assert {run.stream.name for run in plan(options)} >= {"clusters", "avila"}
    assert not any(run.stream.name in ("drift", "classes") for run in plan(options))
    assert options.command("beyond") == "python -m experiments beyond --seeds 1 --goals 1 7"
