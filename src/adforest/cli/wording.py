"""Messages of the library in the words of the shell: its parameters are options here."""

from __future__ import annotations

import ast
import re
import shlex

# name=[...], name='...' or name=..., as errors of the library advise
ADVICE = re.compile(r"\b([a-z][a-z_]+)=(\[[^\]]*\]|'[^']*'|\"[^\"]*\"|\.\.\.)")
# what pandas would do, which nobody types in a shell
PANDAS = re.compile(r"(?:, for example)? with pd\.[^;]*?errors='coerce'\)(?:, which makes [^;]*?missing)?")
CURES = re.compile(
    r"convert them in every batch: .+?; if they are names, make the column a category, X\[(.+?)\]\.as.+?features"
)
PHRASES = {
    "The feature names should match those that were passed during fit.\n": "",
    ", or start a new model with fit()": ", or start a new model: name another file with --model",
    "or start a new model with fit()": "or start a new model: name another file with --model",
    "or start anew with fit()": "or start a new model: name another file with --model",
}


def option(name: str) -> str:
    """Return how the shell calls a parameter."""
    return f"--{name.replace('_', '-')}"


def in_shell_words(message: str) -> str:
    """Return a message of the library whose advice is about options instead of parameters.

    Examples
    --------
    >>> in_shell_words("Pass na_values=['?'] or categorical=['street name', 'b'] to read the column as text.")
    "Pass --na-values '?' or --categorical 'street name' --categorical b to read the column as text."
    """
    for ours, theirs in PHRASES.items():
        message = message.replace(ours, theirs)
    message = CURES.sub(r"write them as such in the files; if they are names, pass categorical=[\1]", message)
    message = PANDAS.sub("", message)
    return ADVICE.sub(_as_options, message)


def _as_options(advice: re.Match[str]) -> str:
    """Return a parameter with its value as an option, once for each value of a list."""
    name, value = option(advice[1]), advice[2]
    if value in ("...", "[...]"):
        return f"{name} ..."
    try:
        values = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return advice[0]
    return " ".join(f"{name} {shlex.quote(str(one))}" for one in ([values] if isinstance(values, str) else values))
