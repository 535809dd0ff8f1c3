"""One HTML page of all results, without anything loaded from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from nextbatch.costs import say_left_out
from nextbatch.drawings import draw_critical_difference, draw_curves, draw_pareto
from nextbatch.learners import BUILT_IN
from nextbatch.learners.trivial import RULES
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.ranks import FALLBACK, Board, Line, make_board
from nextbatch.results import N_VERIFIED, OK, QUICK, Row, choose_sizes
from nextbatch.running import mark_stale
from nextbatch.streams import KINDS, Recipe, quick_drift

SUBJECT = "adforest"  # of which the page says where it is not first
BESIDE = "equal-time"  # the protocol whose rows stand beside those of the main one, too
FAMILIES = {"trivial": "trivial rules", "refit": "refits", "stream": "stream learners", "yours": "others"}
COLUMNS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "rare_average_precision": "average precision, rare classes",
    "kappa_no_change": "kappa-temporal",
    "kappa_majority": "kappa, majority class",
    "new_class_recall": "recall, new classes",
    "seconds_per_batch": "CPU s per batch",
    "peak_mb": "peak MB",
    "late": "batches learnt late",
}
SECONDS_FORM = ".3g"
LOW = (
    "learner",
    "rank",
    "regret",
    "log_loss",
    "seconds_per_batch",
    "peak_mb",
    "late",
)  # columns of which the least is best
STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1b1b;--dim:#5c5c5c;--line:#d4d4d4;--head:#f3f3f3;--mark:#fff3c4;
--shade:#0003;--c0:#0b62b8;--c1:#b3261e;--c2:#1c7a3e;--c3:#7a3fb0;--c4:#a35a00;--c5:#00747c;--c6:#5c5c5c}
@media (prefers-color-scheme:dark){:root{--bg:#15171a;--fg:#e8e8e8;--dim:#a8adb4;--line:#3a3f45;--head:#22262b;
--mark:#4a3d0c;--shade:#fff3;--c0:#6cb0ff;--c1:#ff8a80;--c2:#6fd694;--c3:#cba0ff;--c4:#ffb45c;--c5:#56d4dd;--c6:#a8adb4}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;max-width:1400px;margin:0 auto;
padding:1rem}
table{border-collapse:collapse;font-size:13px}.wide{overflow-x:auto;--edge:2rem 100% no-repeat;
background:linear-gradient(90deg,var(--bg) 40%,transparent) left/var(--edge) local,
linear-gradient(270deg,var(--bg) 40%,transparent) right/var(--edge) local,
linear-gradient(90deg,var(--shade),transparent) left/.8rem 100% no-repeat,
linear-gradient(270deg,var(--shade),transparent) right/.8rem 100% no-repeat}th,td{padding:.25rem .4rem;text-align:right;
border-bottom:1px solid var(--line);white-space:nowrap}th{background:var(--head);white-space:normal}
th:first-child,td:first-child{text-align:left}th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid var(--c0)}.subject td{background:var(--mark)}.trivial td{color:var(--dim)}
td.said{text-align:left;white-space:normal;min-width:12rem}.partial td{color:var(--dim);font-style:italic}
td:first-child,th:first-child{position:sticky;left:0;background:var(--bg)}th:first-child{background:var(--head)}
tr.subject td:first-child{background:var(--mark)}
th[aria-sort=ascending] button::after{content:" \\2191"}
th[aria-sort=descending] button::after{content:" \\2193"}
.lost{columns:17rem;padding-left:1.2rem;margin:.4rem 0 1rem}select{max-width:100%}
svg{display:block}svg text{fill:var(--fg);font:12px system-ui,sans-serif}.dim{color:var(--dim)}a{color:var(--c0)}
label{display:inline-block;max-width:100%;margin-right:1rem}[hidden]{display:none}
details{margin:.4rem 0}summary{cursor:pointer}
"""
SCRIPT = """
const pick=id=>document.getElementById(id).value;
function show(){for(const s of document.querySelectorAll('section.board'))
 s.hidden=s.dataset.protocol!==pick('protocol')||s.dataset.kind!==pick('kind');
 for(const d of document.querySelectorAll('details.stream'))
 d.hidden=d.dataset.protocol!==pick('protocol')||!d.dataset.kinds.split(' ').includes(pick('kind'));
 const f=pick('family');for(const r of document.querySelectorAll('tr[data-family]'))
 r.hidden=f!=='all'&&r.dataset.family!==f&&r.dataset.family!=='trivial';
 document.getElementById('none').hidden=!!document.querySelector('section.board:not([hidden])');}
for(const id of ['protocol','kind','family'])document.getElementById(id).addEventListener('change',show);
document.addEventListener('click',e=>{const b=e.target.closest('th button');if(!b)return;const h=b.parentNode,
 t=h.closest('table'),i=[...h.parentNode.children].indexOf(h),was=h.getAttribute('aria-sort'),
 up=was?was==='descending':h.dataset.first==='ascending';
 for(const o of h.parentNode.children)o.removeAttribute('aria-sort');
 h.setAttribute('aria-sort',up?'ascending':'descending');
 const key=r=>r.children[i].dataset.value??r.children[i].textContent,rows=[...t.tBodies[0].rows];
 rows.sort((a,b)=>{const x=key(a),y=key(b);if(x===''||y==='')return (x==='')-(y==='');
 const d=isNaN(x)||isNaN(y)?x.localeCompare(y):x-y;return up?d:-d});t.tBodies[0].append(...rows)});
show();
"""


def make_page(rows: Sequence[Row], recipes: dict[str, Recipe]) -> str:
    """Return the page of some runs."""
    rows = choose_sizes([row for row in rows if row["stream"] in recipes and row["protocol"] in PROTOCOLS])
    rows = mark_stale(rows, recipes)
    if not rows:
        raise ValueError("none of the runs is of a stream and a protocol that this version knows; run them again.")
    families = {"all": "all"} | {one: says for one, says in FAMILIES.items() if one != "trivial"}
    used = [name for name in PROTOCOLS if any(row["protocol"] == name for row in rows)]
    kinds = _kinds(rows, recipes)
    boards, details = [], []
    for protocol in used:
        for kind, (says, names) in kinds.items():
            board = make_board(rows, protocol, names)
            if board.streams:
                beside = make_board(rows, BESIDE, names) if protocol == "next-batch" else None
                boards.append(_section(board, protocol, kind, says, recipes, beside))
        whole = make_board(rows, protocol, kinds["all"][1])
        details += [_stream(whole, rows, protocol, recipes[name], kinds) for name in whole.streams]
    machines = sorted({f"{row['machine']}; {row['date']}" for row in rows})
    versions = sorted({row[name] for row in rows for name in ("version", "versions")} - {""})
    is_whole = all(row["size"] == "full" for row in rows)
    short = "" if is_whole else " Not all streams were run whole: results on all of them may differ."
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>nextbatch</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body><main>
<h1>nextbatch</h1>
<p>Predict the next batch, then learn it. {len({row["learner"] for row in rows})} learners,
{len({row["stream"] for row in rows})} streams, {len(rows)} runs.{short}</p>
<p>{_select("protocol", {name: PROTOCOLS[name].title for name in used})}
{_select("kind", {kind: says for kind, (says, _) in kinds.items()}, "streams")}
{_select("family", families, "learners in tables")}
<span class="dim">The trivial rules are always shown. A click on a heading sorts by that column.</span></p>
<p id="none" hidden>There are no runs of this choice.</p>
{"".join(boards)}
<h2>Streams</h2>
<p>* Defaults of a learner were chosen while looking at results on this stream.</p>
{"".join(details)}
<h2>Reading it</h2>
<p>Accuracy counts each sample of a stream once, and each stream once in a mean. The rank is the mean of the ranks
by accuracy; a learner that was not run on every stream has none, and its row is in italics: its means are of other
streams than those of the others. A run that reached a limit or ended with an error
counts with the accuracy of the rule {FALLBACK}. Kappa is the part of a rule's errors
that the learner does not make: kappa-temporal's rule predicts the last label that is known,
that of the sample before the batch; the other one the most frequent class so far. Regret is the accuracy
of each stream's best refit, chosen in hindsight, minus the learner's; below 0 the learner is better than all refits.
Intervals are paired bootstraps over streams (95 %). Peak MB is memory within a batch beyond what the run had before
the first one. A mean is left out where a learner lacks the measure on a stream on which others have it. Learners are
unverified until <code>nextbatch verify</code> has repeated runs of theirs with the same predictions. Stale rows are
of code that has changed since; the next <code>nextbatch run</code> repeats them. Rows marked "equal time" are those
of that protocol on the same streams; they have no rank. A whole run leaves out some runs of learners that take long:
{escape(" ".join(say_left_out(BUILT_IN)))}</p>
<p class="dim">{escape(" · ".join(machines))}<br>{escape(" · ".join(versions))}</p>
</main><script>{SCRIPT}</script></body></html>
"""


def _kinds(rows: Sequence[Row], recipes: dict[str, Recipe]) -> dict[str, tuple[str, list[str]]]:
    """Return what streams can be filtered by, with a title and the streams' names."""
    names = [name for name in recipes if any(row["stream"] == name for row in rows)]
    real = [name for name in names if not recipes[name].is_generated]
    found = {"real": ("real streams", real)} if 0 < len(real) < len(names) else {}
    found["all"] = ("all streams", names)
    fresh = [name for name in names if not recipes[name].chosen_on]
    if len(fresh) < len(names):
        found["fresh"] = ("no learner's defaults were chosen on them", fresh)
    for kind, says in KINDS.items():
        found[kind] = (says, [name for name in names if recipes[name].kind == kind])
    return {key: one for key, one in found.items() if one[1]}


def _select(name: str, choices: dict[str, str], title: str = "") -> str:
    """Return a choice."""
    options = "".join(f'<option value="{key}">{escape(says)}</option>' for key, says in choices.items())
    return f'<label>{title or name} <select id="{name}">{options}</select></label>'


def mark(recipe: Recipe) -> str:
    """Return a stream's name, with an asterisk if a learner's defaults were chosen on it."""
    return f"{recipe.name}*" if recipe.chosen_on else recipe.name


def _section(
    board: Board, protocol: str, kind: str, says: str, recipes: dict[str, Recipe], beside: Board | None
) -> str:
    """Return one table with its pictures; rows of another protocol may stand beside its own."""
    streams = ", ".join(mark(recipes[name]) for name in board.streams)
    pareto = [
        (line, line.means["seconds_per_batch"], line.means["accuracy"])
        for line in board.ranked
        if "seconds_per_batch" in line.means and not line.n_failed
    ]
    return f"""<section class="board" data-protocol="{protocol}" data-kind="{kind}">
<h2>{escape(PROTOCOLS[protocol].title)}: {escape(says)}</h2>
<p>{escape(PROTOCOLS[protocol].says)}
<span class="dim">{"" if PROTOCOLS[protocol].per_record else f"Run: {board.sizes}."}
{len(board.streams)} streams: {escape(streams)}.</span></p>
{_places(board, recipes)}
{_table(board, beside)}
<h3>Ranks and critical difference</h3>{draw_critical_difference(board, SUBJECT)}
<p class="dim">A bar joins learners whose mean ranks differ by less than the critical difference (Nemenyi, 5 %).</p>
<h3>Accuracy against cost</h3>{draw_pareto(pareto, SUBJECT)}
<p class="dim">Blue dots, joined by the dashed line: learners than which no other is both faster and more accurate.
A dot shows its learner when the pointer rests on it.</p>
</section>"""


def find_lost(board: Board) -> list[tuple[str, str, float]]:
    """Return the streams on which adforest is not first, who is, and by how much (NaN if it was not run there)."""
    found = []
    for stream in board.streams:
        best = board.winner(stream)
        gap = board.accuracy(best, stream) - board.accuracy(SUBJECT, stream)
        if not gap <= 0:
            found.append((stream, best, gap))
    return found


def say_place(board: Board) -> str:
    """Return a sentence on adforest's mean accuracy among the others, and how many streams it is not first on."""
    if not any(line.name == SUBJECT for line in board.lines):
        return f"{SUBJECT} was not run here."
    parts = []
    order = sorted(board.ranked, key=lambda line: -line.means["accuracy"])
    if any(line.name == SUBJECT for line in order):
        place = [line.name for line in order].index(SUBJECT)
        gap = order[0].means["accuracy"] - order[place].means["accuracy"]
        parts.append(
            f"{SUBJECT} has the best mean accuracy of {len(order)} learners."
            if place == 0
            else f"{SUBJECT} is not first: number {place + 1} of {len(order)} by mean accuracy, "
            f"{gap:.3f} behind {order[0].name}."
        )
    n = len(find_lost(board))
    parts.append(f"It is not first on {n} of {len(board.streams)} streams" if n else "It is first on each stream.")
    return " ".join(parts)


def _say_lost(stream: str, best: str, gap: float, recipes: dict[str, Recipe]) -> str:
    """Return a stream and who is first there."""
    who = f"the rule {best}" if best in RULES else best
    return f"{mark(recipes[stream])} ({'not run' if math.isnan(gap) else f'{who}, by {gap:.3f}'})"


def say_places(board: Board, recipes: dict[str, Recipe]) -> str:
    """Return sentences on where adforest is not first."""
    said = say_place(board)
    lost = [_say_lost(*one, recipes) for one in find_lost(board)]
    return said if said.endswith(".") else f"{said}: {', '.join(lost)}."


def _places(board: Board, recipes: dict[str, Recipe]) -> str:
    """Return where adforest is not first as a list, the largest gap first."""
    said = say_place(board)
    if said.endswith("."):
        return f"<p><b>{escape(said)}</b></p>"
    lost = sorted(find_lost(board), key=lambda one: -one[2] if one[2] == one[2] else -math.inf)
    items = "".join(f"<li>{escape(_say_lost(*one, recipes))}</li>" for one in lost)
    return f'<p><b>{escape(said)}:</b></p><ul class="lost">{items}</ul>'


def _cell(value: float | None, form: str = ".3f") -> str:
    """Return a cell with a number, or an empty one; hardly any seconds are less than a thousandth."""
    if value is None:
        return '<td data-value=""></td>'
    shown = "&lt; 0.001" if form == SECONDS_FORM and value < 0.001 else f"{value:{form}}"
    return f'<td data-value="{value:.6g}">{shown}</td>'


def _head(names: dict[str, str]) -> str:
    """Return a head whose columns can be sorted by: at the first click the best is on top."""
    cells = [
        f'<th scope="col" data-first="{"ascending" if key in LOW else "descending"}">'
        f"<button>{escape(name)}</button></th>"
        for key, name in names.items()
    ]
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def say_marks(line: Line) -> list[str]:
    """Return what is to be known of a learner's rows: tuned, failed, not repeated by `verify`, of changed code."""
    marks = {
        "tuned": line.tuned,
        "failed": line.n_failed,
        "unverified": line.verified < min(N_VERIFIED, line.n_streams),
        "stale": line.stale,
    }
    return [says for says, is_so in marks.items() if is_so]


def _opening(line: Line, protocol: str = "", more: str = "") -> str:
    """Return the beginning of a learner's row, which may be one of another protocol than the others."""
    kinds = f"{line.family if line.family in FAMILIES else 'yours'}{' subject' if line.name == SUBJECT else ''}{more}"
    titles = {"tuned": line.tuned, "unverified": "not repeated"}
    titles |= {
        says: f"{n} of {line.n_streams} streams" for says, n in (("failed", line.n_failed), ("stale", line.stale))
    }
    marks = {says: titles[says] for says in say_marks(line)} | ({protocol: PROTOCOLS[BESIDE].says} if protocol else {})
    said = ", ".join(f'<span class="dim" title="{escape(title)}">{says}</span>' for says, title in marks.items())
    name = f"{line.name}, {protocol}" if protocol else line.name
    return (
        f'<tr class="{kinds}" data-family="{kinds.split()[0]}"><td data-value="{escape(name)}">'
        f'<span title="{escape(line.title)}">{escape(line.name)}</span> {said}</td>'
    )


def _form(measure: str) -> str:
    """Return how a measure's numbers are written."""
    return {"peak_mb": ".0f", "seconds_per_batch": SECONDS_FORM}.get(measure, ".3f")


def _table(board: Board, beside: Board | None) -> str:
    """Return the table of means over streams."""
    measures = [one for one in COLUMNS if any(line.means.get(one) for line in board.lines)]
    shown = [(line, "") for line in board.lines]
    if beside:
        shown += [(line, PROTOCOLS[BESIDE].title) for line in beside.lines if line.family != "trivial"]
    body = [_row(line, measures, len(board.streams), protocol) for line, protocol in shown]
    names = {one: one for one in ("learner", "rank", "accuracy")} | {"behind": "behind the first", "regret": "regret"}
    names |= {one: COLUMNS[one] for one in measures} | {"streams": "streams", "verified": "verified"}
    return _wide(f"{_head(names)}<tbody>{''.join(body)}</tbody>")


def _row(line: Line, measures: Sequence[str], n_streams: int, protocol: str) -> str:
    """Return a learner's row of means; one of another protocol is not compared with the first of this one."""
    rank, behind, regret = (None, None, None) if protocol else (line.rank, line.behind, line.regret)
    cells = [
        _cell(rank, ".2f"),
        _cell(line.means.get("accuracy")),
        '<td data-value=""></td>'
        if behind is None
        else '<td data-value="0">first</td>'
        if not any(behind) and not line.n_failed
        else f'<td data-value="{behind[0]:.6g}">{behind[0]:+.3f} [{behind[1]:+.3f}, {behind[2]:+.3f}]</td>',
        _cell(regret, "+.3f"),
        *(_cell(line.means.get(one), _form(one)) for one in measures if one != "accuracy"),
    ]
    failed = f", {line.n_failed} failed" if line.n_failed else ""
    cells.append(f'<td data-value="{line.n_streams}">{line.n_streams} of {n_streams}{failed}</td>')
    cells.append(f'<td data-value="{line.verified}">on {line.verified} of {line.n_streams}</td>')
    more = "" if line.n_streams == n_streams else " partial"
    return f"{_opening(line, protocol, more)}{''.join(cells)}</tr>"


def _wide(table: str) -> str:
    """Return a table that scrolls where it is wider than the page."""
    return f'<div class="wide" tabindex="0"><table>{table}</table></div>'


def _stream(
    board: Board, rows: Sequence[Row], protocol: str, recipe: Recipe, kinds: dict[str, tuple[str, list[str]]]
) -> str:
    """Return what is known of one stream: its recipe, its curves and its results."""
    name = recipe.name
    if any(row["size"] == QUICK for row in rows if (row["protocol"], row["stream"]) == (protocol, name)):
        recipe = replace(recipe, drift=quick_drift(recipe))
    lines = [line for line in board.lines if (line.name, name) in {**board.values["accuracy"], **board.failed}]
    lines.sort(key=lambda line: -board.values["accuracy"].get((line.name, name), 0.0))
    curves: dict[str, list[float]] = {}
    for row in rows:
        if (row["protocol"], row["stream"], row["status"]) == (protocol, name, OK):
            curves.setdefault(row["learner"], [float(one) for one in row["accuracy_by_batch"].split()])
    columns = {
        one: says for one, says in COLUMNS.items() if any(board.values[one].get((line.name, name)) for line in lines)
    }
    body = []
    for line in lines:
        key = line.name, name
        said = escape(board.failed.get(key, "ok")) + (", stale" if key in board.stale else "")
        cells = [_cell(None if key in board.failed else board.values[one].get(key), _form(one)) for one in columns]
        body.append(f'{_opening(line)}{"".join(cells)}<td class="said">{said}</td></tr>')
    drift = f" Rules change with batch {', '.join(map(str, recipe.drift))}." if recipe.drift else ""
    chosen = f" <b>Defaults of {', '.join(recipe.chosen_on)} were chosen on it.</b>" if recipe.chosen_on else ""
    groups = " ".join(kind for kind, (_, names) in kinds.items() if name in names)
    gap = next((gap for stream, _, gap in find_lost(board) if stream == name), 0.0)
    behind = f"; {SUBJECT} is {gap:.3f} behind" if gap > 0 else ""
    source = escape(recipe.source)
    if recipe.url:
        source = f'<a href="{escape(recipe.url)}">{source}</a>'
    order = escape(f"{recipe.order} ({recipe.time_column})" if recipe.time_column else recipe.order)
    summary = f"{mark(recipe)}: {recipe.title} (first: {board.winner(name)}{behind})"
    return f"""<details class="stream" data-protocol="{protocol}" data-kinds="{groups}">
<summary>{escape(summary)}</summary>
<p>{source}. Licence: {escape(recipe.licence)}. Order: {order}. Left out:
{escape(recipe.left_out)}
{escape(drift)}{chosen}</p>
{draw_curves(curves, [line for line in lines if line.name in curves], recipe, PROTOCOLS[protocol], SUBJECT)}
{_wide(_head({"learner": "learner", **columns, "status": "status"}) + f"<tbody>{''.join(body)}</tbody>")}
</details>"""
