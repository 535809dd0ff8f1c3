"""Options that several commands have; those that are parameters of the library are read from its source.

The source is parsed and not imported, so that help is there before scikit-learn would be.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

import adforest
from adforest.cli.output import option
from adforest.log_lines import LogFormat

ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.+)$")
SECTION = re.compile(r"\n *(\w+)\n *-+\n")
SHELL_TYPES = {"None": "none", "dict": "JSON", "str": "text", "float": "fraction", "int": "number"}
WORDS: dict[str, Any] = {"none": None, "true": True, "false": False}


MODEL_HELP = "The model file, such as m.adf."

ModelArgument: TypeAlias = Annotated[Path, typer.Argument(help=MODEL_HELP)]
ModelPath: TypeAlias = Annotated[Path, typer.Option("--model", "-m", help=MODEL_HELP)]
Target: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="The column that holds the classes. Stored in the model when it first learns files."
    ),
]
AlertRules: TypeAlias = Annotated[
    Path | None, typer.Option("--alerts", help="A TOML file of rules, checked at every batch; see: adforest alert.")
]
MetricsFile: TypeAlias = Annotated[
    Path | None, typer.Option(help="Where to write metrics for Prometheus after every batch, such as adforest.prom.")
]
Force: TypeAlias = Annotated[bool, typer.Option("--force", "-f", help="Replace the file if it is there.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]
MaxRecords: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Refuse files of more records; lines of text count as records.")
]
MaxBytes: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Refuse files of more bytes, uncompressed.")]
MaxColumns: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Refuse files of more columns.")]
Keep: TypeAlias = Annotated[
    int, typer.Option(min=0, help="Keep so many earlier versions of the model; see: adforest versions.")
]
LogStyle: TypeAlias = Annotated[
    LogFormat, typer.Option("--log-format", help="Format of the lines: a table and text, or a log for programs.")
]


@dataclass(frozen=True)
class Parameter:
    """A parameter of the library that is an option here.

    Attributes
    ----------
    name : str
    is_list : bool
        Whether it may be given several times.
    default : object
        Default of the library.
    is_number : bool
        Whether it is a number unless it is left at its default.
    help : str
        The first sentence of its documentation, and the values that it names.
    """

    name: str
    is_list: bool
    default: Any
    is_number: bool
    help: str

    def as_argument(self, panel: str) -> inspect.Parameter:
        """Return it as an argument of a Typer command, None where it is not given."""
        again = " May be given several times." if self.is_list else ""
        default = "" if self.default in (None, ()) else f" Default: {self.default}"
        info = typer.Option(
            None,
            option(self.name),
            help=self.help + again + default,
            metavar="NUMBER" if self.is_number else "TEXT",
            show_default=False,
            rich_help_panel=panel,
        )
        kind = list[str] | None if self.is_list else str | None
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=kind)


@dataclass(frozen=True)
class Group:
    """Parameters of one class or function of the library.

    Attributes
    ----------
    title : str
        Above them in the help.
    source : str
        The file, from the folder of the package on.
    owner : str
        The class or function.
    left_out : tuple of str
        Parameters that are no options, or options of another kind.
    """

    title: str
    source: str
    owner: str
    left_out: tuple[str, ...]

    def parameters(self) -> list[Parameter]:
        """Return the parameters in the order of the library."""
        return [one for one in _declared(self.source, self.owner) if one.name not in self.left_out]


MODEL = Group(
    "Parameters of the model",
    "adaptive.py",
    "AdaptiveDecisionForestClassifier",
    ("categorical_features", "verbose"),
)
READING = Group("How files are read", "reading/files.py", "read_batches", ("target", "batch_size", "types"))
TESTING = replace(READING, left_out=(*READING.left_out, "columns", "drop", "categorical"))
ANSWERING = replace(TESTING, left_out=(*TESTING.left_out, "unlabelled"))


def with_options(**groups: Group) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options of groups to a command.

    The command gets one argument a group, by its name: a dict of those parameters that were given.
    """

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        parameters = {name: group.parameters() for name, group in groups.items()}

        @functools.wraps(command)
        def called(**given: Any) -> Any:
            for group, members in parameters.items():
                found = {one.name: given.pop(one.name) for one in members}
                given[group] = {name: value for name, value in found.items() if value is not None and value != []}
            return command(**given)

        hints = get_type_hints(command, include_extras=True)
        signature = inspect.signature(command)
        own = [one.replace(annotation=hints[name]) for name, one in signature.parameters.items() if name not in groups]
        own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        added = [one.as_argument(group.title) for name, group in groups.items() for one in parameters[name]]
        called.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        return called

    return decorated


def read_value(text: str) -> Any:
    """Return the value of a text: none, a number, a JSON object, or the text itself.

    Examples
    --------
    >>> read_value("3"), read_value("0.5"), read_value("none"), read_value("200MB"), read_value('{"a": 2}')
    (3, 0.5, None, '200MB', {'a': 2})
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return json.loads(text) if text.startswith("{") else text


@functools.cache
def _declared(source: str, name: str) -> list[Parameter]:
    """Return the parameters with defaults of a class or function, from its source file."""
    path = Path(str(adforest.__file__)).parent / source
    (owner,) = [node for node in ast.parse(path.read_text("utf-8")).body if getattr(node, "name", None) == name]
    assert isinstance(owner, ast.ClassDef | ast.FunctionDef)
    function = owner
    if isinstance(owner, ast.ClassDef):
        (function,) = [one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    assert isinstance(function, ast.FunctionDef)
    declared = function.args
    pairs = list(zip(reversed(declared.args), reversed(declared.defaults), strict=False))[::-1]
    pairs += [(one, value) for one, value in zip(declared.kwonlyargs, declared.kw_defaults, strict=True) if value]
    helps = _documented(ast.get_docstring(owner) or "")
    return [_parameter(one, ast.literal_eval(default), helps.get(one.arg, "")) for one, default in pairs]


def _parameter(declared: ast.arg, default: Any, help_text: str) -> Parameter:
    """Return a parameter; its annotation lists the types of its values."""
    kind = "" if declared.annotation is None else ast.unparse(declared.annotation)
    is_text = any(one in kind for one in ("str", "Sequence", "dict"))
    is_number = isinstance(default, int | float) or (default is None and not is_text)
    return Parameter(declared.arg, "Sequence" in kind, default, is_number, help_text)


def _documented(docstring: str) -> dict[str, str]:
    """Return the first sentence on each parameter of a numpydoc docstring, and the values that its type names."""
    parts = SECTION.split(f"\n{docstring}")
    text = parts[parts.index("Parameters") + 1] if "Parameters" in parts else ""
    found: dict[str, str] = {}
    values: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        entry = ENTRY.match(line)
        if entry is not None:
            names = entry[1].split(", ")
            values |= dict.fromkeys(names, _values(entry[2]))
        elif line.strip():
            found |= {name: f"{found.get(name, '')} {line.strip()}".strip() for name in names}
    return {name: _first_sentence(words) + values[name] for name, words in found.items()}


def _values(kind: str) -> str:
    """Return the type of a parameter as a sentence, as the shell writes its values, if it names some.

    Examples
    --------
    >>> _values('{"error", "allow"}, default="error"'), _values("dict, 'balanced' or None"), _values("int or None")
    (' Values: "error", "allow".', ' Values: JSON, "balanced" or none.', '')
    """
    named = re.sub(r"[{}]", "", re.sub(r"(, default=.*|, optional)$", "", kind)).replace("'", '"')
    if '"' not in named:
        return ""
    for python, shell in SHELL_TYPES.items():
        named = re.sub(rf"\b{python}\b", shell, named)
    return f" Values: {named}."


def _first_sentence(text: str) -> str:
    """Return the first sentence, without symbols of the paper and without marks of code."""
    plain = re.sub(r" \[\w\]|``", "", text)
    return re.split(r"(?<=[.])\s", plain, maxsplit=1)[0]
