"""The chapter of nextbatch's results: its figures are those of the rows, and what is stale is said."""

from dataclasses import replace

import pytest

from experiments import run_studies
from experiments.comparison.results import Results
from experiments.reporting.markdown import chapter_as_markdown
from experiments.reporting.results_page import EARLIER, PageChapter, read_page
from experiments.specs.options import Options
from experiments.studies import streams
from made_up import check_chapter
from nextbatch.learners import known_learners
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.results import COLUMNS, write_rows
from nextbatch.running import Job
from nextbatch.streams import read_recipes

ACCURACY = {
    ("gas", "adforest"): (0.80, 0.82),
    ("gas", "rf-all"): (0.85, 0.85),
    ("gas", "rf-last3"): (0.6, 0.6),
    ("gas", "lightgbm-last3"): (0.5,),
    ("avila", "adforest"): (0.9, 0.9),
    ("avila", "rf-all"): (0.8, 0.8),
    ("avila", "rf-last3"): (0.86, 0.86),
    ("noise", "adforest"): (0.7, 0.7),
    ("noise", "rf-all"): (0.6, 0.6),
}


def make_row(stream, learner, seed, accuracy, **changes):
    entry, recipe = known_learners()[learner], read_recipes()[stream]
    row = dict.fromkeys(COLUMNS, "") | {"size": "full", "protocol": "next-batch", "status": "ok", "verified": "false"}
    row |= {"stream": stream, "learner": learner, "seed": str(seed), "accuracy": str(accuracy), "log_loss": "0.5"}
    row |= {"seconds_per_batch": "0.25", "peak_mb": "9", "title": entry.title, "family": entry.family}
    row |= {"version": entry.version(), "versions": "NumPy 2", "machine": "m", "date": "2022-02-01"}
    fingerprint = Job(PROTOCOLS["next-batch"], recipe, entry, learner).fingerprint()
    return row | {"table_sha256": recipe.sha256, "fingerprint": fingerprint} | changes


def all_rows(**changes):
    pairs = ((place, seed, one) for place, by_seed in ACCURACY.items() for seed, one in enumerate(by_seed))
    return [make_row(*place, seed, one, **(changes if place[1] == "adforest" else {})) for place, seed, one in pairs]


@pytest.fixture
def rows_are(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "RUNS", tmp_path)
    return lambda rows: write_rows(tmp_path / "runs.csv", rows)


def make_chapter(last=None):
    made = streams.report(Results({}), Options())
    return replace(made, provenance=streams.find_provenance(last, "1a2b3c4"))


def table(chapter, title):
    return PageChapter(chapter_as_markdown(chapter)).table(title)


def test_the_chapter_has_the_figures_of_the_rows(rows_are):
    rows_are(all_rows())
    chapter = make_chapter()
    check_chapter(chapter, "streams")
    assert chapter.findings[0] == (
        "Real streams: adforest has the best mean accuracy of 3 learners. It is not first on 1 of 2 streams: gas* "
        "(rf-all, by 0.040)."
    )
    assert (
        "RandomForest on each of 2 real streams: +0.0 points on average, behind on 1, worst on gas (-4.0)"
        in (chapter.findings[2])
    )
    accuracy = table(chapter, "Accuracy on the next batch, real streams")
    assert accuracy.heads == ["", "gas*", "avila*", "mean"]
    assert accuracy.row("adforest") == ["adforest", "0.810 ± 0.014", "0.900 ± 0.000", "0.855"]
    assert accuracy.row("lightgbm-last3") == ["lightgbm-last3", "0.500", "–", "–"]
    assert table(chapter, "Log loss on the next batch, generated streams").number("rf-all", "noise") == 0.5
    above = table(chapter, "Points of adforest above the best refit in hindsight, real streams")
    assert above.row("gas") == ["gas", "rf-all", "-4.0", "lightgbm-last3", "31.0"]
    assert above.row("mean") == ["mean", "–", "0.0", "–", "31.0"]
    means = table(chapter, "All learners, real streams")
    assert means.number("adforest", "regret, points") == pytest.approx(0.0)
    assert means.cell("rf-all", "streams") == "2 of 2"
    assert means.cell("adforest", "behind the first, points") == "first"
    assert means.cell("rf-all", "behind the first, points") == "-3.0 (-10.0 to +4.0)"
    assert means.cell("rf-all", "marks") == "unverified"
    assert chapter.provenance.n_seeds == 1  # those that all learners have
    assert not any("Stale" in caveat for caveat in chapter.caveats)


def test_stale_rows_are_marked_and_make_the_chapter_one_of_an_earlier_version(rows_are):
    rows_are(all_rows())
    page = PageChapter(chapter_as_markdown(make_chapter()))
    assert run_studies.is_current(page)
    rows_are(all_rows(fingerprint="0123456789abcdef"))
    assert not run_studies.is_current(page)
    chapter = make_chapter(page.provenance)
    assert table(chapter, "All learners, real streams").cell("adforest", "marks") == "unverified, stale"
    assert any("Stale: runs of adforest are" in caveat for caveat in chapter.caveats)
    assert chapter.provenance.commit == "unknown"
    assert not run_studies.is_current(PageChapter(chapter_as_markdown(chapter)))


def test_other_behaviour_makes_the_chapter_one_of_an_earlier_version(rows_are, monkeypatch):
    rows_are(all_rows())
    page = PageChapter(chapter_as_markdown(make_chapter()))
    monkeypatch.setattr(streams, "fingerprint_methods", lambda runs: {"ADF-R": "0123456789"})
    assert not run_studies.is_current(page)


def test_the_commit_is_that_of_the_rows(rows_are):
    rows_are(all_rows())
    first = make_chapter().provenance
    assert (first.commit, first.date) == ("1a2b3c4", "2022-02-01")
    assert streams.find_provenance(first, "4d5e6f7") == first
    rows_are(all_rows(date="2022-02-03"))
    assert streams.find_provenance(first, "4d5e6f7").commit == "4d5e6f7"


def test_runs_that_did_not_end_are_said(rows_are):
    rows_are([*all_rows(), make_row("avila", "lightgbm-last3", 0, "", status="timeout", says="more than 240 s")])
    chapter = make_chapter()
    assert any("lightgbm-last3 on avila (more than 240 s)" in caveat for caveat in chapter.caveats)


def test_the_page_has_what_the_rows_say():
    chapter = next(one for one in read_page()[1] if one.study == "streams")
    made = PageChapter(chapter_as_markdown(streams.report(Results({}), Options())))
    for title in ("Accuracy on the next batch, real streams", "Log loss on the next batch, generated streams"):
        assert chapter.table(title) == made.table(title), "run: python -m experiments pages"


def test_the_command_writes_the_chapter_and_marks_it(tmp_path, rows_are, monkeypatch):
    rows_are(all_rows(fingerprint="0123456789abcdef"))
    page = tmp_path / "results.md"
    page.write_text("# Results\n\nWords.\n")
    monkeypatch.setattr(run_studies, "RESULTS_PAGE", page)
    run_studies.run_studies(["streams"], Options(out=tmp_path / "out", write_docs=True))
    (chapter,) = read_page(page)[1]
    assert chapter.is_of_earlier_version
    assert EARLIER in page.read_text()
    assert "The next batch" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
