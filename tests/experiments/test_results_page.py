"""docs/results.md: what it says of the methods is what they do now, or it says that it is old."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adforest.adaptation import FORESTS
from chapters import CHAPTER, EMPTY
from experiments import run_studies as running
from experiments.__main__ import main
from experiments.reporting.chapter import Chapter, Provenance
from experiments.reporting.markdown import chapter_as_markdown, read_provenance, write_markdown
from experiments.reporting.results_page import EARLIER, PageChapter, mark_earlier, read_page, update_page
from experiments.running import behaviour
from experiments.running.behaviour import (
    MIXED,
    MIXED_SIZES,
    SMALL,
    SMALL_SIZES,
    draw_mixed,
    fingerprint_behaviour,
    fingerprint_methods,
    fingerprint_mixed,
    fingerprint_probabilities,
)
from experiments.running.measures import describe_forests
from experiments.specs.options import Options, read_command
from experiments.specs.run_spec import ONLINE, PREQUENTIAL, MethodSpec, RunSpec, StreamSpec
from experiments.studies.catalogue import STUDIES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = read_page(DOCS / "results.md")[1]
AGAIN = "Run: python -m experiments {} --seeds 3 --write-docs"
PROVENANCE = Provenance("2022-02-01", "1a2b3c4 + changes", 3, {"ADF-R": "0123456789", "ADF-S (a=b, c=d)": "abcdef0123"})


def check_page_chapter(chapter):
    """Assert that a chapter is of this version, or says at its top that it is not."""
    if chapter.is_of_earlier_version:
        return
    again = AGAIN.format(chapter.study)
    assert chapter.provenance, f"{chapter.title!r} does not say what it was measured with. {again}"
    now = running.fingerprint_study(chapter)
    measured = chapter.provenance.behaviour
    assert now.keys() <= measured.keys(), again
    for label, fingerprint in measured.items():
        is_now = now.get(label, "not run")
        assert fingerprint == is_now, (
            f"{chapter.title!r} of docs/results.md was measured when {label} behaved otherwise ({fingerprint}, now "
            f"{is_now}). {again}"
        )


@pytest.mark.parametrize("chapter", PAGE, ids=lambda chapter: chapter.study)
def test_chapter_of_the_results_is_of_this_version_or_says_it_is_not(chapter):
    check_page_chapter(chapter)


def test_chapters_that_the_paper_page_quotes_are_of_this_version():
    text = (DOCS / "paper.md").read_text(encoding="utf-8")
    quoted = {name.strip() for name in re.findall(r"\{measured(?:-bars)?\}[ `]([^|\n]+)\|", text)}
    old = [chapter for chapter in PAGE if chapter.title in quoted and chapter.is_of_earlier_version]
    assert quoted <= {chapter.title for chapter in PAGE}
    assert not old, "docs/paper.md quotes chapters of an earlier version:\n" + "\n".join(
        f"{chapter.title}. {AGAIN.format(chapter.study)}" for chapter in old
    )


def test_every_chapter_is_made_by_a_study_of_its_own():
    studies = [chapter.study for chapter in PAGE]
    assert set(studies) <= set(STUDIES)
    assert len(set(studies)) == len(studies)


def page_chapter(behaviour, text=""):
    made = replace(EMPTY, title="T", command="python -m experiments splitting")
    made = replace(made, provenance=Provenance("2022-02-01", "1a2b3c4", 3, behaviour))
    return PageChapter(chapter_as_markdown(made).replace("## T\n", f"## T\n{text}"))


def test_a_chapter_of_another_behaviour_is_noticed():
    true = fingerprint_methods(STUDIES["splitting"].plan(read_command("python -m experiments splitting")))
    other = true | {"ADF-R paper": "0123456789"}
    check_page_chapter(page_chapter(true))
    with pytest.raises(AssertionError, match=r"'T' .* when ADF-R paper behaved otherwise .*experiments splitting"):
        check_page_chapter(page_chapter(other))
    with pytest.raises(AssertionError, match="experiments splitting"):
        check_page_chapter(page_chapter({label: one for label, one in true.items() if not label.endswith(MIXED)}))
    check_page_chapter(page_chapter(other, f"\n{EARLIER}\n"))
    with pytest.raises(AssertionError, match="'T' does not say"):
        check_page_chapter(PageChapter("## T\n\n*Q*\n\n```console\n$ python -m experiments splitting\n```"))


def test_a_chapter_is_left_if_a_method_of_it_has_changed(monkeypatch):
    chapter = next(one for one in PAGE if one.study == "probabilities")
    measured = chapter.provenance.behaviour
    assert {"ADF-R", "ADF-R probabilities"} <= measured.keys()
    monkeypatch.setattr(running, "fingerprint_methods", lambda runs: measured)
    assert running.is_current(chapter)
    for label in measured:
        changed = measured | {label: "0123456789"}
        monkeypatch.setattr(running, "fingerprint_methods", lambda runs, changed=changed: changed)
        assert not running.is_current(chapter)


def test_provenance_is_read_as_it_was_written():
    text = chapter_as_markdown(replace(CHAPTER, provenance=PROVENANCE))
    assert read_provenance(text) == PROVENANCE
    assert text.splitlines()[-1].startswith("Measured on 2022-02-01 at commit 1a2b3c4 + changes, seeds: 3, behaviour:")
    assert read_provenance(chapter_as_markdown(CHAPTER)) is None
    compared = replace(PROVENANCE, libraries={"lightgbm": "4.6.0", "river": "0.22.0.post1"})
    assert read_provenance(chapter_as_markdown(replace(CHAPTER, provenance=compared))) == compared
    only_libraries = replace(compared, behaviour={})
    assert read_provenance(chapter_as_markdown(replace(CHAPTER, provenance=only_libraries))) == only_libraries
    without = replace(PROVENANCE, behaviour={})
    assert read_provenance(chapter_as_markdown(replace(CHAPTER, provenance=without))) == without
    assert Chapter.from_json(replace(EMPTY, provenance=PROVENANCE).to_json()).provenance == PROVENANCE


def test_only_the_chapters_that_were_run_are_replaced(tmp_path):
    studies = ["a", "b", "c", "d"]
    made = {one: replace(EMPTY, title=one.upper(), command=f"python -m experiments {one}") for one in studies}
    path = tmp_path / "results.md"
    write_markdown([made["c"], made["a"]], path)
    path.write_text(path.read_text().replace("# Results\n", "# Results\n\nBy hand.\n"))
    before = {chapter.study: chapter.text for chapter in read_page(path)[1]}
    update_page(path, {"a": replace(made["a"], title="A!"), "b": made["b"], "d": made["d"]}, studies)
    introduction, after = read_page(path)
    assert introduction.startswith("By hand.\n\nWritten by")
    assert [chapter.title for chapter in after] == ["C", "D", "A!", "B"]  # b after a, d after c
    assert after[0].text == before["c"]
    assert "- [A!](#a)\n- [B](#b)\n" in path.read_text()
    update_page(path, {}, studies)
    assert read_page(path) == (introduction, after)


def test_reading_and_writing_the_page_changes_nothing(tmp_path):
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    (tmp_path / "results.md").write_text(text, encoding="utf-8")
    update_page(tmp_path / "results.md", {}, list(STUDIES))
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == text


def test_chapters_say_that_they_are_of_an_earlier_version_and_stop_saying_so(tmp_path):
    path = tmp_path / "results.md"
    write_markdown([replace(EMPTY, title=one, command=f"python -m experiments {one}") for one in ("a", "b")], path)
    before = path.read_text()
    assert mark_earlier(path, lambda chapter: chapter.study == "a") == ["b"]
    assert [chapter.is_of_earlier_version for chapter in read_page(path)[1]] == [False, True]
    assert mark_earlier(path, lambda chapter: chapter.study == "b") == ["a"]
    assert mark_earlier(path, lambda chapter: True) == []
    assert path.read_text() == before


def test_behaviour_is_that_of_the_method():
    fingerprint_behaviour.cache_clear()
    one = fingerprint_behaviour(MethodSpec("ADF-R paper"))
    fingerprint_behaviour.cache_clear()
    assert fingerprint_behaviour(MethodSpec("ADF-R paper")) == one
    assert re.fullmatch(r"[0-9a-f]{10}", one)
    assert fingerprint_behaviour(MethodSpec.of("ADF-R paper", error_tolerance=0.2)) != one


@pytest.mark.parametrize("column", ["drift", *(f"leaves_{name}" for name in FORESTS)])
def test_behaviour_covers_verdicts_and_leaves(column, monkeypatch):
    method = MethodSpec("ADF-R paper")
    before = fingerprint_behaviour(method)
    monkeypatch.setattr(behaviour, "describe_forests", lambda model: describe_forests(model) | {column: "other"})
    assert fingerprint_behaviour.__wrapped__(method) != before


def test_probabilities_have_a_fingerprint_where_they_are_evaluated():
    method, calibrated = MethodSpec("ADF-R"), MethodSpec.of("ADF-R", tuning='{"calibrates": false}')
    runs = [RunSpec(StreamSpec("ldpa"), method), RunSpec(StreamSpec("elec2"), method, 0, PREQUENTIAL)]
    assert set(fingerprint_methods(runs[:1])) == {"ADF-R", f"ADF-R{MIXED}"}
    assert set(fingerprint_methods(runs)) == {"ADF-R", "ADF-R probabilities", "ADF-R mixed columns probabilities"}
    assert fingerprint_behaviour(calibrated) == fingerprint_behaviour(method)
    assert fingerprint_probabilities(calibrated) != fingerprint_probabilities(method)


def test_fingerprints_are_of_adf_by_name_and_by_choices_that_are_words():
    stream = StreamSpec("ldpa")
    methods = [
        MethodSpec("RF batch paper"),
        MethodSpec.of("ADF-R paper", repair_threshold=0.1),
        MethodSpec.of("ADF-R paper", repair_threshold=0.2, reading="text"),
    ]
    found = fingerprint_methods([RunSpec(stream, method) for method in methods])
    names = ["ADF-R paper", "ADF-R paper (reading=text)"]
    assert list(found) == [*names, *(f"{name}{MIXED}" for name in names)]
    assert found["ADF-R paper"] == fingerprint_behaviour(MethodSpec("ADF-R paper"))
    assert len(set(found.values())) == 4


def test_small_batches_have_a_fingerprint_where_samples_are_learnt_one_by_one():
    method = MethodSpec("ADF-R")
    found = fingerprint_methods([RunSpec(StreamSpec("elec2"), method, 0, ONLINE)])
    assert set(found) == {"ADF-R", f"ADF-R{MIXED}", f"ADF-R{SMALL}"}
    assert found[f"ADF-R{SMALL}"] == fingerprint_mixed(method, SMALL_SIZES, has_log_loss=True)
    assert {1, 10} < set(SMALL_SIZES)


@pytest.mark.parametrize(
    "changed",
    [
        {"memory_size": 100_000},
        {"class_weight": "balanced"},
        {"n_estimators": 5},
        {"answer_for": "everything"},
    ],
)
def test_the_fingerprint_of_mixed_columns_covers_memory_and_votes(changed, monkeypatch):
    method = MethodSpec("ADF-R")
    before = fingerprint_mixed(method)
    made = behaviour.make_model
    monkeypatch.setattr(behaviour, "MEMORY_SIZE", changed.get("memory_size", behaviour.MEMORY_SIZE))
    monkeypatch.setattr(behaviour, "make_model", lambda *asked: made(*asked).set_params(**changed))
    assert fingerprint_mixed.__wrapped__(method) != before


def test_mixed_columns_have_what_numbers_do_not():
    batches = list(draw_mixed(MIXED_SIZES))
    X = np.concatenate([one for one, _ in batches])
    assert {type(value) for value in X.ravel()} == {float, str, type(None)}
    assert {"m", "z"} == set(batches[0][1]) < set(batches[-1][1]) == {"m", "z", "a"}
    assert "violet" not in batches[0][0][:, 2]
    assert "violet" in batches[-1][0][:, 2]
    assert len(X) > 5 * behaviour.MEMORY_SIZE


def test_commit_tells_changes_of_the_code(tmp_path):
    assert running.describe_commit(tmp_path) == "unknown"

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", *identity, "-C", str(tmp_path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    git("add", "src")
    git("commit", "-m", "a")
    (tmp_path / "README.md").write_text("not code\n")
    commit = running.describe_commit(tmp_path)
    assert commit == git("rev-parse", "--short", "HEAD")
    (tmp_path / "src" / "a.py").write_text("a = 2\n")
    assert running.describe_commit(tmp_path) == f"{commit} + changes"


def test_quick_runs_are_not_put_into_the_docs(capsys):
    assert main(["accuracy", "--quick", "--write-docs"]) == 1
    assert "--write-docs is for full runs; drop --quick" in capsys.readouterr().err


def test_a_run_puts_its_chapter_into_the_docs(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    write_markdown([replace(EMPTY, command="python -m experiments accuracy")], page)
    monkeypatch.setattr(running, "RESULTS_PAGE", page)
    monkeypatch.setattr("experiments.specs.selections.QUICK_SAMPLES", 1200)
    running.run_studies(["readings"], Options(quick=True, out=tmp_path / "out"))
    assert [chapter.study for chapter in read_page(page)[1]] == ["accuracy"]
    running.run_studies(["readings"], Options(quick=True, out=tmp_path / "out", write_docs=True))
    _, new = read_page(page)[1]
    assert (new.study, new.title) == ("readings", "Two readings of the paper")
    check_page_chapter(new)
    names = {f"ADF-{one} paper{two}" for one in "RS" for two in ("", " (reading=text)")}
    assert set(new.provenance.behaviour) == names | {f"{name}{MIXED}" for name in names}
    assert new.provenance.libraries == {}
