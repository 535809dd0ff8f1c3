"""One stream batch by batch: accuracies next to the published ones, by batch and by stage, and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.comparison.comparison import join_words
from experiments.comparison.published import METHOD_OF_COLUMN, PUBLISHED_METHODS, Published, read_published
from experiments.comparison.published_comparison import GROUPS, NOTE, differences, tabulate
from experiments.comparison.results import PerSeed, Results
from experiments.reporting.chapter import Cell, Figure, Table
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.specs.run_spec import MethodSpec, StreamSpec
from experiments.specs.selections import ADF


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

    def published_tables(self, title: str, table: str) -> list[Table]:
        """Return accuracies after each batch next to the published ones, a table for each group of columns.

        Parameters
        ----------
        title : str
            What the tables' titles begin with.
        table : str
            A published table with a row for each batch.

        Returns
        -------
        list of Table
        """
        theirs = read_published(table)
        return [self._published_table(f"{title}: {group}", theirs, columns) for group, columns in GROUPS.items()]

    def _published_table(self, title: str, theirs: Published, columns: Sequence[str]) -> Table:
        """Return the accuracies of some columns; what was not run has its published column alone."""
        shown: dict[str, Sequence[float | None]] = {}
        for column in columns:
            ours = self._by_batch_if_run(METHOD_OF_COLUMN[column])
            shown |= {f"{column}, paper's settings": ours} if ours else {}
            shown[f"{column}, published"] = theirs.figures[column]
            shown |= {f"{column}, difference": differences(ours, theirs.figures[column])} if ours else {}
            default = self._by_batch_if_run(column) if column in ADF else None
            shown |= {f"{column}, defaults": default} if default else {}
        rows: list[tuple[Cell, ...]] = [
            (row["batch"], row["stage"], *(values[index] for values in shown.values()))
            for index, row in enumerate(self.rows)
        ]
        means = [np.mean([value for value in values if value is not None]) for values in shown.values()]
        rows.append(("mean", None, *map(float, means)))
        return Table(title, ("batch", "stage", *shown), tuple(rows), 3, "", f"{NOTE} Means over the seeds.")

    def _by_batch_if_run(self, name: str) -> list[float | None] | None:
        """Return a method's accuracy batch by batch, None if it was not run."""
        return self.by_batch(name) if self.results.has(self.stream, self.spec(name)) else None

    def published_stages(self, title: str, table: str) -> Table:
        """Return the mean accuracy of each stage next to the published one."""
        by_batch = read_published(table)
        stages = [label[0] for label in by_batch.labels]
        means = {name: mean_by_stage(stages, by_batch.figures[name]) for name in PUBLISHED_METHODS}
        theirs = Published(
            labels=tuple((stage,) for stage in dict.fromkeys(stages)),
            figures={name: tuple(by_stage.values()) for name, by_stage in means.items()},
        )
        ours = {column: self._stages_if_run(METHOD_OF_COLUMN[column]) for column in PUBLISHED_METHODS}
        defaults = {column: self._stages_if_run(column) if column in ADF else {} for column in PUBLISHED_METHODS}
        return tabulate(
            title,
            theirs,
            self.by_stage(self.names[0]),
            PUBLISHED_METHODS,
            lambda stage, column: ours[column].get(stage),
            lambda stage, column: defaults[column].get(stage),
            head="stage",
            has_mean=False,
        )

    def _stages_if_run(self, name: str) -> dict[str, PerSeed]:
        """Return a method's mean accuracy in each stage, nothing if it was not run."""
        is_run = self.results.has(self.stream, self.spec(name))
        return {stage: PerSeed((mean,)) for stage, mean in self.by_stage(name).items()} if is_run else {}


def mean_by_stage(stages: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Return the mean of the values of each stage, stages in the order they come."""
    by_stage: dict[str, list[float]] = {}
    for stage, value in zip(stages, values, strict=True):
        by_stage.setdefault(stage, []).append(value)
    return {stage: float(np.mean(some)) for stage, some in by_stage.items()}
