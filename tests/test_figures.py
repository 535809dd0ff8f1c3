"""Figures in pages: measured ones are taken from results or tested here; those typed by hand are settings, and few."""

import re
from pathlib import Path

import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation.scoring import MAX_KEPT, MAX_PROBABILITIES
from adforest.adaptation.tuning import Tuning
from adforest.encoding.tables import MAX_DENSE_BYTES
from adforest.tracking.history import MAX_BLOCKS, MAX_REPORTS
from experiments.benchmark_tables import benchmark_figure
from experiments.reporting.results_page import FIGURES, find_chapter

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("results.md", "changelog.md", "service.md")  # written by a command; limits of the service are its own tests'
PAGES = [
    page
    for folder in (DOCS, DOCS / "guide", DOCS / "how-to")
    for page in sorted(folder.glob("*.md"))
    if page.name not in MADE
]
TUNING = Tuning()
DEFAULTS = AdaptiveDecisionForestClassifier().get_params()

# By page: figures that look measured, and what they are. A condition is tested, a text is a reason.
SETTINGS = {
    "command-line.md": {
        "60 seconds": "the longest wait, LONGEST_WAIT of cli/watching.py",
        "five seconds": "of sending when a command ends",
        "hundreds of times": "KILLS of the Makefile",
    },
    "contributing.md": {"300 times": "KILLS of the Makefile", "30 minutes": "MINUTES of the Makefile"},
    "explaining.md": {"16 points": "of the quadrature"},
    "health.md": {
        "1 MB": "a limit, tests/tracking",
        "2 MB": "a limit, tests/tracking",
        "1.5 KB": "a limit, tests/tracking",
        "1 %": "the level of a test",
        "three times": "a rule",
    },
    "index.md": {"five minutes": "reading time", "ten minutes": "reading time"},
    "integrations.md": {"2 GB": "a limit of protocol buffers"},
    "monitoring.md": {
        "half a second": "how long a page waits",
        "95%": "of an interval",
        "200 points": "of a drawing",
        "2 MB": "a limit, tests/monitor",
        "10 seconds": "a timeout",
    },
    "paper.md": {"90 %": "an example", "25 and 75 %": "of the paper"},
    "scale.md": {
        "60 seconds": "a timeout",
        "three times": "what the code does",
        "about a millisecond": "what Dask says of itself",
    },
    "spark.md": {"three times": "what the code does"},
    "tables.md": {"1 GiB": MAX_DENSE_BYTES == 2**30},
    "when-not.md": {"1 GiB": MAX_DENSE_BYTES == 2**30, "8 ×": "pixels of a digit"},
    "guide/drift.md": {
        "5 points": TUNING.clear_gap == 0.05,
        "95 %": TUNING.max_one_class == 0.95,
    },
    "guide/one-batch.md": {"2 points": "of the paper's settings", "5 %": "noise of the simulated stream"},
    "guide/voting.md": {"0.1 ×": TUNING.learning_rate == 0.1, "1 %": TUNING.switch_rate == 0.01},
}
ONE = "one|two|three|four|five|six|seven|eight|nine|ten|(?:a )?hundred|(?:a )?thousand|(?:about )?an?|half an?"
NUMBER = rf"(?:\d[\d,.]*|\b(?:(?:{ONE})|(?:ten|hundred|thousand)s of) )"
UNIT = r"(?:points?|%|per cent|times|×|[KMG]i?B|(?:milli|micro)?seconds?|minutes?|hours?|ms|µs)"
FIGURE = re.compile(rf"(?<![\w.`-])({NUMBER}(?: (?:to|or|and) {NUMBER})?[ \u00a0]?{UNIT})(?![\w-])")
NOT_TYPED = (r"^(`{3,}).*?^\1`*\s*$", r"<!-- table.*?<!-- end -->", r"\{[\w-]+\}`[^`]*`", r"`[^`\n]*`")


def typed_figures(text):
    """Return figures with units that are typed by hand: outside code, marks and roles."""
    for pattern in NOT_TYPED:
        text = re.sub(pattern, "`", text, flags=re.MULTILINE | re.DOTALL)
    found = [" ".join(one.split()) for one in FIGURE.findall(" ".join(text.split()))]
    return {one for one in found if not re.match(r"an? (?:points?|times|minute|second|millisecond|hour)\b", one)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It gains 2.0 points and takes 100 times as long.", {"2.0 points", "100 times"}),
        ("ahead by two points, at a hundred times the time", {"two points", "a hundred times"}),
        ("64 MB in `9 MB` of\n\n```text\n3 seconds\n```\n", {"64 MB"}),
        ("{measured}`a | b | 3 points | c` points <!-- table: a -->4 %<!-- end -->", set()),
        ("in tens of milliseconds at 8 × 8 pixels, at times, at this point", {"tens of milliseconds", "8 ×"}),
    ],
)
def test_figures_are_found(text, found):
    assert typed_figures(text) == found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_no_measured_figure_is_typed_by_hand(page):
    known = SETTINGS.get(page.relative_to(DOCS).as_posix(), {})
    typed = typed_figures(page.read_text(encoding="utf-8"))
    assert typed - known.keys() == set(), (
        "take it from docs/results.md (see docs/contributing.md), or list it as a setting"
    )
    assert known.keys() - typed == set(), "no longer on the page"
    assert all(known.values())


def test_limits_of_what_is_kept_are_those_of_the_code():
    costs, health = ((DOCS / name).read_text(encoding="utf-8") for name in ("how-to/costs.md", "health.md"))
    assert f"last {MAX_KEPT:,} samples" in costs
    assert f"{MAX_PROBABILITIES:,}" in costs
    assert f"the last {MAX_REPORTS:,} in full" in health
    assert f"at most {MAX_BLOCKS} blocks" in health


def test_figures_that_pages_compute_are_there():
    n_found = 0
    for page in [*PAGES, DOCS / "service.md"]:
        for role, asked in re.findall(
            r"(?<!`)\{(measured(?:-\w+)?|benchmark)\}`([^`]+)`", page.read_text(encoding="utf-8")
        ):
            parts = [part.strip() for part in " ".join(asked.split()).split("|")]
            if role == "benchmark":
                shown = benchmark_figure(*parts)
            else:
                shown = FIGURES[role](find_chapter(parts[0]).table(parts[1]), *parts[2:])
            assert re.search(r"\d", shown)
            n_found += 1
    assert n_found > 10


# What pages say in words, beside what the results have.


def said(page, sentence):
    """Assert that a page has a sentence, however its lines are broken."""
    assert sentence in " ".join((DOCS / page).read_text(encoding="utf-8").split()), f"{page} no longer says: {sentence}"


def numbers(chapter, table):
    return find_chapter(chapter).table(table)


def ahead(table, stream, names):
    """Return by how many points the best of some learners is ahead of adforest on a stream of nextbatch."""
    column = next(head for head in table.heads if head.rstrip("*") == stream)
    numbers = [table.number(name, column) or 0 for name in names]
    return 100 * (max(numbers) - table.number("adforest", column))


def test_who_is_ahead_on_real_streams():
    accuracy = numbers("The next batch", "Accuracy on the next batch, real streams")
    said("when-not.md", "On **gas, outdoor and occupancy** a random forest refitted on everything is ahead")
    assert all(ahead(accuracy, one, ["rf-all"]) > 0 for one in ("gas", "outdoor", "occupancy"))
    said(
        "when-not.md",
        "River's adaptive random forest, which learns after each single sample, or the last label alone is ahead.",
    )
    assert all(ahead(accuracy, one, ["river-arf", "no-change"]) > 0 for one in ("eb", "arem", "uifwa"))
    loss = numbers("The next batch", "Log loss on the next batch, real streams")
    said("when-not.md", "In log loss, a refit on everything is ahead on few of them")
    streams = [head for head in loss.heads[1:] if head != "mean"]
    lower = [one for one in streams if loss.number("rf-all", one) < loss.number("adforest", one)]
    assert 0 < len(lower) <= len(streams) / 4


def test_who_is_ahead_on_generated_streams():
    accuracy = numbers("The next batch", "Accuracy on the next batch, generated streams")
    said("when-not.md", "a random forest refitted on everything is ahead, and LightGBM more so")
    assert 0 < ahead(accuracy, "noise", ["rf-all"]) < ahead(accuracy, "noise", ["lightgbm-all"])
    said("when-not.md", "are sums over columns, which boosted trees fit better than forests do")
    for stream in ("abrupt", "gradual", "noise", "recurring"):
        assert ahead(accuracy, stream, ["lightgbm-last3", "lightgbm-all"]) > 0
        assert ahead(accuracy, stream, ["rf-last", "rf-last3", "rf-all"]) < ahead(
            accuracy, stream, ["lightgbm-last3", "lightgbm-all"]
        )
    seconds = numbers("The next batch", "CPU seconds per batch, predicting and learning, generated streams")
    said("when-not.md", "A refit takes more time")
    assert seconds.number("adforest", "mean") < seconds.number("rf-all", "mean")
    chosen = [head for head in accuracy.heads if head.endswith("*")]
    said("when-not.md", "on its generated ones nothing was chosen")
    assert not chosen


def test_what_a_batch_costs_beside_a_refit():
    share = numbers("Beyond the paper", "4 Cost: CPU seconds per batch, one thread")
    by = {row.partition(",")[0]: share.number(row, "the last 3") for row in share.rows if row.endswith("our share")}
    said("when-not.md", "A batch of noisy houses costs about as much as scikit-learn's refit on the last three")
    assert 0.9 < by.pop("House") < 1.1
    said("when-not.md", "those of the other data sets half to two thirds of it")
    assert 0.45 < min(by.values()) < max(by.values()) < 0.7


def test_what_fewer_trees_and_absent_classes_cost():
    accuracy = numbers("Beyond the paper", "1 Accuracy: mean over the 34 batches")
    said(
        "when-not.md",
        "With 10 trees per forest, against 20 of a refit on everything, it is still ahead on the 34-batch streams",
    )
    assert accuracy.number("mean", "ADF-R, 10 trees a forest") > accuracy.number("mean", "RF all")
    recall = numbers("Beyond the paper", "6 Classes: recall on new samples")
    said(
        "guide/memory.md", "is about that of a forest refitted on everything, and much lower than when it was last seen"
    )
    gone = "recall of a class after 100 batches without it"
    assert abs(recall.number(gone, "ADF-R") - recall.number(gone, "RF all")) < 0.05
    assert recall.number("the same, since it was last seen", "ADF-R") < -0.2


def test_what_the_permanent_forest_alone_costs():
    accuracy, retention = (
        numbers("Parameters", f"Points of {what} against the defaults")
        for what in ("mean accuracy", "retention after the last batch")
    )
    said("guide/voting.md", "it costs accuracy and hardly gains retention, most of it on EB")
    by = {one: retention.number("answer_for=everything", one) for one in retention.heads[1:]}
    assert accuracy.number("answer_for=everything", "mean") < -1
    assert 0 < by.pop("mean") < 0.5
    assert max(by, key=by.__getitem__) == "EB"


def test_what_the_paper_page_says_of_leaves_and_drift():
    published = numbers("A large data set in batches", "Beside the published figures")
    leaves = numbers("A large data set in batches", "By the minimum samples of a leaf")
    said("paper.md", "With leaves of 100 samples ADF stays below its published figures")
    said("paper.md", "With leaves of 20 it is above them")
    for one in ("LDPA", "UIFWA"):
        for name in ("ADF-R paper", "ADF-S paper"):
            below, above = (leaves.number(one, f"{name}, leaves of {n}") for n in (100, 20))
            assert below < published.number(f"{one}, published", "ADF") < above
    drift = numbers("Accuracy over 34 batches", "Batches called drift, by stage")
    said("paper.md", "report it most often in the first batches of other classes (MUC-1 and MKUC-1)")
    for name in ("ADF-R", "ADF-S", "ADF-H"):
        share = {
            stage: sum(drift.number(stage, f"{name} paper, {kind}") for kind in ("temporary", "sustained"))
            / drift.number(stage, "batches")
            for stage in drift.rows
        }
        assert set(sorted(share, key=share.__getitem__)[-2:]) == {"MUC-1", "MKUC-1"}
    cirf = numbers("Accuracy over 34 batches", "CIRF by what it starts from")
    ours = numbers("Accuracy over 34 batches", "Ours beside the published figures")
    said("paper.md", "the published figures lie between those of our leaf sizes on LDPA, UIFWA and House")
    ends = {one: [cirf.number(one, head) for head in cirf.heads[1:]] for one in cirf.rows}
    beyond = [one for one in ends if not min(ends[one]) < ours.number(f"{one}, published", "CIRF") < max(ends[one])]
    assert beyond == ["EB", "AReM", "Avila"]
