"""One stream batch by batch: a table of accuracies, means by stage next to the published ones, and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.comparison.comparison import join_words
from experiments.comparison.published import METHOD_OF_COLUMN, PUBLISHED_METHODS, read_published
from experiments.comparison.results import Results
from experiments.reporting.chapter import Cell, Figure, Table
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.specs.run_spec import MethodSpec, StreamSpec


@dataclass(frozen=True)
class PerBatch:
    """Some methods on one stream, batch by batch.

    Attributes
    ----------
    results : Results
    stream : StreamSpec
    names : sequence of str
        Methods.
    methods : mapping of str to MethodSpec
        What those names stand for that are not simply a method's.
    """

    results: Results
    stream: StreamSpec
    names: Sequence[str]
    methods: Mapping[str, MethodSpec] = field(default_factory=dict)

    def spec(self, name: str) -> MethodSpec:
        """Return the method that a name stands for."""
        return self.methods.get(name, MethodSpec(name))

    @property
    def rows(self) -> list[Row]:
        """Batches as the first method met them, with the first seed."""
        return self.results.rows(self.stream, self.spec(self.names[0]))

    @property
    def stages(self) -> list[str]:
        """Stage of each batch."""
        return [str(row["stage"]) for row in self.rows]

    def by_batch(self, name: str, column: str = "accuracy") -> list[float | None]:
        """Return a column of a method, batch by batch, None where it was not measured."""
        values = self.results.by_batch(self.stream, self.spec(name), column)
        return [None if np.isnan(value) else float(value) for value in values]

    def by_stage(self, name: str) -> dict[str, float]:
        """Return a method's mean accuracy in each stage."""
        return mean_by_stage(self.stages, self.results.by_batch(self.stream, self.spec(name), "accuracy").tolist())

    def table(self, title: str) -> Table:
        """Return accuracies with a row for each batch, and their means."""
        columns = [self.by_batch(name) for name in self.names]
        rows: list[tuple[Cell, ...]] = [
            (row["batch"], row["stage"], row["n_train"], row["n_test"], *(column[place] for column in columns))
            for place, row in enumerate(self.rows)
        ]
        means = [float(np.mean([value for value in column if value is not None])) for column in columns]
        rows.append(("mean", None, None, None, *means))
        heads = ("batch", "stage", "train", "test", *self.names)
        return Table(title, heads, tuple(rows), 3, "max", "Accuracy on the test set after each batch; mean over seeds.")

    def figure(self, title: str, column: str, y_title: str, *, shown: Sequence[str], log_y: bool = False) -> Figure:
        """Return a column along the stream, a line for each method; those not in `shown` are hidden until clicked.

        Parameters
        ----------
        title : str
        column : str
        y_title : str
        shown : sequence of str
            Methods whose lines are seen at once.
        log_y : bool

        Returns
        -------
        Figure
        """
        per_seed = [place for place, row in enumerate(self.rows) if row[column] is not None]
        columns = {name: self.by_batch(name, column) for name in self.names}
        stages = [self.stages[place] for place in per_seed]
        has_stages = len(set(stages)) > 1
        plot = lines(
            {name: [values[place] for place in per_seed] for name, values in columns.items()},
            [self.rows[place]["batch"] for place in per_seed],
            y_title=y_title,
            stages=stages if has_stages else (),
            hidden=[name for name in self.names if name not in shown],
            log_y=log_y,
        )
        bands = "Shaded: the stages of the protocol. " if has_stages else ""
        return Figure(title, plot, f"{bands}Click a name to show or hide its line.")

    def describe_stages(self, ours: str, rival: str) -> str:
        """Return in which stages ours is ahead of a rival, and in which behind."""
        theirs = self.by_stage(rival)
        gaps = {stage: 100 * (value - theirs[stage]) for stage, value in self.by_stage(ours).items()}
        behind = [f"{stage} ({gap:+.1f})" for stage, gap in gaps.items() if gap < 0]
        best = max(gaps, key=gaps.__getitem__)
        said = f"{ours} against {rival}: furthest ahead in {best} ({gaps[best]:+.1f} points)"
        return f"{said}, behind in {join_words(behind)}." if behind else f"{said}, behind in no stage."

    def published_table(self, table: str, title: str) -> Table:
        """Return the mean accuracy of each stage, ours with the paper's settings above the published."""
        theirs = read_published(table)
        stages = [label[0] for label in theirs.labels]
        published = {name: mean_by_stage(stages, theirs.figures[name]) for name in PUBLISHED_METHODS}
        ran = {name: self.results.has(self.stream, MethodSpec(METHOD_OF_COLUMN[name])) for name in PUBLISHED_METHODS}
        ours = {name: self.by_stage(METHOD_OF_COLUMN[name]) for name in PUBLISHED_METHODS if ran[name]}
        rows: list[tuple[Cell, ...]] = []
        for stage in dict.fromkeys(stages):
            rows.append((f"{stage}, ours", *(ours[name][stage] if ran[name] else None for name in PUBLISHED_METHODS)))
            rows.append((f"{stage}, published", *(published[name][stage] for name in PUBLISHED_METHODS)))
        return Table(
            title,
            ("stage", *PUBLISHED_METHODS),
            tuple(rows),
            3,
            "max",
            "Ours with the paper's settings where it has any.",
        )


def mean_by_stage(stages: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Return the mean of the values of each stage, stages in the order they come."""
    by_stage: dict[str, list[float]] = {}
    for stage, value in zip(stages, values, strict=True):
        by_stage.setdefault(stage, []).append(value)
    return {stage: float(np.mean(some)) for stage, some in by_stage.items()}
