"""Chapters and tables made up for tests of how they are shown."""

from dataclasses import replace

from hypothesis import strategies as st

from experiments.reporting import plots
from experiments.reporting.chapter import Chapter, Figure, Table
from experiments.reporting.rank_diagram import rank_diagram

NAN, INF = float("nan"), float("inf")
EVIL = "</script><script>alert(1)</script><img src=//adforest.invalid/x onerror=f()> & \"quoted\" 'too' | *x* [y]"
METHODS = ("ADF-R", "RF last 3", "LeveragingBag", *(f"rival {number}" for number in range(17)))
SETS = ("LDPA", "UIFWA", "EB", "AReM", "Avila", "House")

WIDE = Table(
    "Mean accuracy",
    ("data set", *METHODS),
    tuple((name, *(0.9 - 0.01 * (row + place) for place in range(20))) for row, name in enumerate(SETS)),
    best="max",
    note="Over 34 batches.",
)
LONG = Table(
    "By batch",
    ("batch", "stage", "train", "ADF-R", "HT"),
    tuple((b, "MKC-1", 2000 + b, 0.8, b / 50) for b in range(34)),
)
GAPPY = Table("Gaps", ("data set", "ADF-R", "HT", "why"), (("LDPA", None, NAN, "n/a"), ("EB", INF, -INF, "")))

CHAPTER = Chapter(
    name="accuracy",
    title="Who is right most often?",
    question="Which method is right most often, on average over the batches?",
    findings=("ADF-R is ahead on 4 of 6 data sets.", "It loses to RF last 3 on EB by 0.7 points."),
    caveats=("The defaults were chosen on these streams.", "One seed."),
    tables=(WIDE, LONG, GAPPY),
    figures=(
        Figure("Along the batches", plots.lines({"ADF-R": [0.7, 0.8], "HT": [0.5, NAN]}, [1, 2]), "Up is good."),
        Figure("By data set", plots.dots({"ADF-R": [0.7, 0.8], "HT": [0.5, 0.6]}, ["LDPA", "EB"])),
    ),
    command="python -m experiments accuracy",
)
EMPTY = Chapter("empty", "Nothing yet", "Is there anything?", (), (), (), (), "python -m experiments empty")
EVIL_CHAPTER = Chapter(
    "evil",
    EVIL,
    EVIL,
    (EVIL,),
    (EVIL,),
    (Table(EVIL, (EVIL, "ADF-R", "HT"), ((EVIL, 0.5, 0.4), ("</td>", EVIL, None)), best="max", note=EVIL),),
    (
        Figure(EVIL, plots.bars({EVIL: [1.0, 2.0], "ADF-R": [2.0, 1.0]}, [EVIL, "EB"], title=EVIL), EVIL),
        Figure("Heat", plots.heatmap([[0.1, None], [INF, 0.2]], ["<b>", 2], [1, 2], x_title=EVIL, chosen=(2, 1))),
        Figure("Ranks", rank_diagram({"ADF-R": 1.2, "HT": 2.8, EVIL: 2.0}, 1.0)),
        Figure("Cost", plots.scatter({"ADF-R": (0.1, 0.9), EVIL: (3.0, 0.5)}, x_title="s", y_title=EVIL, log_x=True)),
    ),
    f"python -m experiments '{EVIL}'",
)
BY_HAND = Figure("By hand", {"data": [{"type": "scatter", "y": [1, 2], "name": EVIL}], "layout": {"showlegend": True}})
EVIL_CHAPTER = replace(EVIL_CHAPTER, figures=(*EVIL_CHAPTER.figures, BY_HAND))
CHAPTERS = [CHAPTER, EMPTY, EVIL_CHAPTER]

words = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=20)
cells = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-(10**6), 10**6), words)


@st.composite
def tables(draw):
    n_columns, n_rows = draw(st.integers(1, 14)), draw(st.integers(0, 4))
    rows = draw(st.lists(st.tuples(words, *[cells] * (n_columns - 1)), min_size=n_rows, max_size=n_rows))
    heads = draw(st.lists(words, min_size=n_columns, max_size=n_columns))
    return Table(draw(words), tuple(heads), tuple(rows), best=draw(st.sampled_from(["max", "min", ""])))
