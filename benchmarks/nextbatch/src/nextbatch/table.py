"""The main table as Markdown, for a README: between two marks, so that a command can write it again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nextbatch.page import SUBJECT, mark, say_marks, say_places
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.ranks import RULE_FAMILY, Board, make_board
from nextbatch.results import Row, choose_sizes, say_sizes
from nextbatch.running import mark_stale
from nextbatch.streams import Recipe

BEGIN, END = "<!-- nextbatch -->", "<!-- end -->"


def make_table(rows: Sequence[Row], recipes: dict[str, Recipe]) -> str:
    """Return means over real and generated streams, and sentences on where adforest is not first."""
    rows = mark_stale(rows, recipes)
    real = [name for name, one in recipes.items() if not one.is_generated]
    parts = {
        "real": real,
        "real, not used to choose any defaults": [name for name in real if not recipes[name].chosen_on],
        "generated": [name for name, one in recipes.items() if one.is_generated],
    }
    boards = {says: make_board(rows, "next-batch", names) for says, names in parts.items()}
    boards["real, equal time"] = make_board(rows, "equal-time", real)
    boards = {says: board for says, board in boards.items() if board.streams}
    if not boards or next(iter(boards)) == "real, equal time":
        raise ValueError(
            "there are no runs by the protocol next-batch that went through; make some: nextbatch run --protocols "
            "next-batch."
        )
    first = next(iter(boards.values()))
    names = [line.name for line in first.ranked]
    head = [f"{says} ({len(board.streams)})" for says, board in boards.items()]
    lines = [
        f"| learner | rank | {' | '.join(head)} | CPU s per batch |",
        f"|---|---{'|---' * len(head)}|---|",
        *(_line(name, boards) for name in names),
    ]
    rows = choose_sizes([row for row in rows if row["protocol"] == "next-batch" and row["stream"] in recipes])
    dates = sorted({row["date"] for row in rows})
    versions = sorted({row["version"] for row in rows if row["learner"] == SUBJECT})
    chosen = [mark(recipes[name]) for name in first.streams if recipes[name].chosen_on]
    said = [
        "`rf`, `hgb`, `lightgbm` and `xgboost` are refitted on the last batch (`-last`), on the last three (`-last3`) "
        "or on everything (`-all`); `river-` learners and adforest learn each batch once; `prior-` predicts class "
        "frequencies, `no-change` the last label.",
        f"Mean accuracy on the next batch, {say_sizes(rows)}, {say_seeds(rows)}, run "
        f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}{' with ' if versions else ''}{' and '.join(versions)}; "
        "rank and CPU seconds are those of the first column.",
        *(f"{says.capitalize()}: {say_places(board, recipes)}" for says, board in boards.items() if "," not in says),
    ]
    if "real, equal time" in boards:
        said.append(f"Equal time: {PROTOCOLS['equal-time'].says}")
    if any(line.stale for line in first.lines):
        said.append("Stale: of code that has changed since; the next `nextbatch run` repeats it.")
    if chosen:
        said.append(f"Defaults of adforest were chosen on {', '.join(chosen)}.")
    return "\n".join([*lines, "", *(f"- {one}" for one in said)])


def say_seeds(rows: Sequence[Row]) -> str:
    """Return how many seeds runs have, with the learners that have most of them if not all have as many.

    Examples
    --------
    >>> say_seeds([{"learner": "a", "seed": "0"}, {"learner": "a", "seed": "1"}])
    '2 seeds'
    >>> say_seeds([{"learner": "a", "seed": "0"}, {"learner": "b", "seed": "0"}, {"learner": "b", "seed": "1"}])
    '1 seed (2 of b)'
    """
    seeds: dict[str, set[str]] = {}
    for row in rows:
        if row.get("family") != RULE_FAMILY:  # rules are the same for all seeds
            seeds.setdefault(row["learner"], set()).add(row["seed"])
    fewest, most = (choose(map(len, seeds.values()), default=1) for choose in (min, max))
    several = f"{fewest} seed{'s' if fewest > 1 else ''}"
    with_most = sorted(name for name, found in seeds.items() if len(found) == most)
    return several if fewest == most else f"{several} ({most} of {', '.join(with_most)})"


def _line(name: str, boards: dict[str, Board]) -> str:
    """Return a learner's row; the best mean of a column is bold, unless all others are rules."""
    cells = []
    for board in boards.values():
        means = {line.name: line.means["accuracy"] for line in board.ranked if "accuracy" in line.means}
        text = f"{means[name]:.3f}".lstrip("0") if name in means else ""
        is_compared = sum(line.family != RULE_FAMILY for line in board.ranked) > 1
        best = max((means[line.name] for line in board.ranked if not line.n_failed), default=None)
        is_failed = any(line.n_failed for line in board.ranked if line.name == name)
        cells.append(f"**{text}**" if text and is_compared and not is_failed and means[name] == best else text)
    line = next(one for one in next(iter(boards.values())).ranked if one.name == name)
    named = f"{name} ({', '.join(say_marks(line))})" if say_marks(line) else name
    return f"| {named} | {line.rank:.1f} | {' | '.join(cells)} | {line.means.get('seconds_per_batch', 0):.2g} |"


def put_between_marks(path: Path, table: str) -> None:
    """Replace what stands between the marks of a file."""
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} has no marks; expected a line {BEGIN} and, below it, a line {END}.")
    path.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
