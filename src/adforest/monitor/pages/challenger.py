"""Challenger and champion: accuracy of both on the same batches."""

from __future__ import annotations

import numpy as np

from adforest.monitor.challenge import CLEAR, MIN_BATCHES, Challenge
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import figure, part, table_of
from adforest.monitor.pages.markup import Markup, tag
from adforest.monitor.pages.plots import Plot, Scale, batch_scale

HEIGHT = 150
MOST = 200  # batches drawn
VERDICTS = {
    "better": "The challenger is better",
    "worse": "The challenger is worse",
    "open": "Undecided which is better",
}


def challenge_part(name: str, challenge: Challenge | None, promote: Markup | None = None) -> Markup:
    """Return the section about the challenger of a name, with the control that promotes it if there is one."""
    if challenge is None:
        empty = tag("p", f"{name} learns the same batches; none has been predicted by both before learning it yet.")
        return part("challenger", "Challenger", empty, promote)
    batches = words.count(len(challenge.batches), "batch", "batches")
    lead = (
        f"{VERDICTS[challenge.verdict]}: accuracy {words.percent(challenge.challenger)}, the champion's "
        f"{words.percent(challenge.champion)}, on {batches} that both predicted before learning them "
        f"({100 * challenge.difference:+.1f} ± {100 * CLEAR * challenge.error:.1f} points). "
    )
    if challenge.verdict == "better" and promote is None:
        lead += f"`adforest promote` makes {name} the champion."
    elif len(challenge.batches) < MIN_BATCHES:
        lead += f"Nothing is concluded from fewer than {MIN_BATCHES}."
    return part("challenger", "Challenger", _over_time(challenge), promote, lead=lead)


def _over_time(challenge: Challenge) -> Markup:
    """Return the accuracy of both over time."""
    drawn = challenge.batches[-MOST:]
    number, champion, challenger = (np.array([one[column] for one in drawn], dtype=float) for column in (0, 2, 3))
    x, y = batch_scale(number), Scale.of_fractions([champion, challenger])
    plot = Plot(x, y, HEIGHT)
    picture = plot.draw(
        [plot.line(number, champion, "vote"), plot.line(number, challenger, "expected")],
        label=f"Accuracy of the champion and of the challenger; last {words.percent(champion[-1])} and "
        f"{words.percent(challenger[-1])}.",
        x_ticks=[(tick, f"{tick:,.0f}") for tick in x.ticks(8, whole=True)],
        y_ticks=y.percent_ticks(4),
    )
    rows = [
        [
            f"{one.batch:,}",
            words.number(one.n_tested, 1),
            words.percent(one.champion),
            words.percent(one.challenger),
            f"{100 * (one.challenger - one.champion):+.1f}",
        ]
        for one in drawn
    ]
    return figure(
        *("challenge", "Accuracy of both on the same batches", picture),
        key=[("line vote", "champion"), ("line expected", "challenger")],
        table=table_of(
            ["batch", "samples", "champion", "challenger", "difference"],
            rows,
            positions=x.fraction(number).tolist(),
        ),
        class_="wide steps",
    )
