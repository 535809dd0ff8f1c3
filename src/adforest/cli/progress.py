"""Output for each batch: a row of a table, or an object of JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

from adforest.cli.batch_files import shown
from adforest.log_lines import LogFormat, log_line, printable
from adforest.wording import counted, size, utc

STYLES = {"sustained": "bold red", "temporary": "yellow"}
HEAD = ("time", "batch", "file", "records", "classes", "drift", "accuracy", "answers", "seconds")
WIDEST_NAME = 32  # of a file


class BatchTable:
    """Prints a row per batch, and a summary at the end."""

    def __init__(
        self, files: Sequence[Path], print_line: Any, *, as_json: bool, log_format: LogFormat = LogFormat.TEXT
    ) -> None:
        self._width = min(WIDEST_NAME, max([len(printable(shown(path))) for path in files] + [len("file")]))
        self.print = print_line
        self._format = LogFormat.JSON if as_json else log_format
        self.n_batches = self.n_samples = self.n_skipped = 0
        self._n_judged = self._n_right = 0.0

    def learn(self, learner: Any, found: Iterable[Any], rules: Any, then: Callable[[Any], None]) -> None:
        """Learn batches and print a row for each.

        Parameters
        ----------
        learner : Learner
        found : iterable of (FileBatch, parts)
        rules : Alerts
        then : callable
            Called with each batch once it is learnt.
        """
        start = perf_counter()
        for batch, parts in found:

            def tell(report: Any, files: Sequence[Path] = batch.files, start: float = start) -> None:
                self.add(report, files, perf_counter() - start)
                rules.tell()

            rules.look(batch.X, batch.files)
            learner.learn(batch, parts, tell, rules.noted)
            then(batch)
            start = perf_counter()

    def add(self, report: Any, files: Sequence[Path], seconds: float) -> None:
        """Print the row of a batch."""
        self.n_batches += 1
        self.n_samples += report.n_samples
        accuracy = report.accuracy.get("vote")
        if accuracy is not None:
            self._n_judged += report.n_samples
            self._n_right += accuracy * report.n_samples
        if self._format != LogFormat.TEXT:
            fields = {"files": [str(path) for path in files]} | asdict(report) | {"seconds_in_all": seconds}
            self._event("batch", fields, at=report.learnt_at)
        else:
            if self.n_batches == 1:
                self.print(self._line(*HEAD), "dim")
            self.print(self._row(report, files, accuracy, seconds), STYLES.get(report.drift, ""))

    def tell(self, event: str, level: str, text: str, **fields: Any) -> None:
        """Print another event: a line of text, or its fields."""
        if self._format == LogFormat.TEXT:
            self.print(f"{utc(time.time())}  {text}")
        else:
            self._event(event, fields, level)

    def _event(self, event: str, fields: dict[str, Any], level: str = "info", at: float | None = None) -> None:
        """Print an event with its time and level."""
        start = {"event": event, "time": utc(time.time() if at is None else at), "level": level}
        print(log_line(self._format, start | fields), flush=True)

    def _row(self, report: Any, files: Sequence[Path], accuracy: float | None, seconds: float) -> str:
        """Return the row of a batch."""
        name = printable(shown(files[0])) + (f" +{len(files) - 1}" if len(files) > 1 else "")
        if len(name) > self._width:
            name = "…" + name[1 - self._width :]
        figures = "-" if accuracy is None else f"{accuracy:.3f}"
        drift = "-" if report.drift == "none" else report.drift
        line = self._line(
            utc(report.learnt_at),
            str(report.batch),
            name,
            f"{report.n_samples:,}",
            report.scenario,
            drift,
            figures,
            report.answering,
            f"{seconds:.2f}",
        )
        if report.new_classes and report.batch > 1:
            more = ", …" if len(report.new_classes) > 5 else ""
            line += f"  new: {', '.join(printable(str(one)) for one in report.new_classes[:5])}{more}"
        return line

    def _line(self, *cells: str) -> str:
        """Return cells padded to the widths of their columns."""
        widths = ("<20", ">6", f"<{self._width}", ">9", "<7", "<9", ">8", "<9", ">7")
        return "  ".join(format(cell, width) for cell, width in zip(cells, widths, strict=True))

    def close(self, learner: Any, seconds: float, stopped: str = "") -> None:
        """Print the summary, and the signal that stopped the command, if there was one."""
        mean = self._n_right / self._n_judged if self._n_judged else None
        if self._format != LogFormat.TEXT:
            totals = {"batches": self.n_batches, "records": self.n_samples, "passed_over": self.n_skipped}
            totals["unlabelled"] = learner.n_unlabelled
            model = {
                "model": str(learner.path),
                "batches_in_all": learner.model.history_[-1].batch if not learner.is_new else 0,
            }
            model |= {"stopped": stopped} if stopped else {}
            self._event("end", totals | {"accuracy": mean, "seconds": seconds} | model)
            return
        if stopped:
            self.tell("stopped", "info", f"stopped by {stopped}")
        before = f"{counted(self.n_skipped, 'file')} learnt before and passed over" if self.n_skipped else ""
        if not self.n_batches:
            self.print(f"nothing new to learn{f': {before}' if before else ''}")
            return
        accuracy = f", accuracy before learning {mean:.3f}" if mean is not None else ""
        learnt = f"learnt {counted(self.n_batches, 'batch')}, {counted(self.n_samples, 'record')} in {seconds:.1f} s"
        self.print(learnt + accuracy + (f"; {before}" if before else ""))
        n_classes, n_all = len(learner.model.classes_), learner.model.history_[-1].batch
        now = f"{counted(n_all, 'batch')}, {counted(n_classes, 'class')}, {size(learner.path.stat().st_size)}"
        self.print(f"{learner.path}: {now}")
