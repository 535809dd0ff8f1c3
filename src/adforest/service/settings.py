"""Settings of a served model: target, parameters, when batches are closed, and how long labels are awaited."""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
DAY = 86_400.0
MAX_BATCH = 1_000_000  # records
MAX_VERSIONS = 1_000
MAX_SECONDS = 3_660 * DAY
MAX_CLASSES = 10_000
SAME_LABELS = {("int", "false"): "0", ("int", "true"): "1", ("bool", "0"): "false", ("bool", "1"): "true"}
SETTABLE = ("batch_size", "batch_seconds", "label_wait", "default_label", "remember", "keep_versions", "max_classes")


def check_name(name: str) -> str:
    """Return the name of a model, or raise: it becomes the name of a file and leads nowhere else.

    Examples
    --------
    >>> check_name("rents-2")
    'rents-2'
    >>> check_name("../rents")
    Traceback (most recent call last):
    ValueError: the name of the model is '../rents'; expected 1 to 64 letters of a-z, digits, - and _, first no sign.
    """
    if not NAME.fullmatch(name):
        raise ValueError(
            f"the name of the model is {name[:80]!r}; expected 1 to 64 letters of a-z, digits, - and _, first no sign."
        )
    return name


@dataclass(frozen=True)
class ModelSettings:
    """Settings of a served model.

    Attributes
    ----------
    target : str
        The column of the classes in whole batches, and the name of the label.
    parameters : dict
        Parameters of `AdaptiveDecisionForestClassifier`. ``random_state`` is drawn where it is not given, so that the
        log alone says what the model is.
    batch_size : int
        Labelled records that make a batch.
    batch_seconds : float or None
        Seconds after which a batch is closed with fewer; None: never.
    label_wait : float
        Seconds after its prediction until which the label of a record is accepted.
    default_label : str, int, float, bool or None
        The label of records that have none by then; None: they expire.
    remember : float
        Seconds for which ids are known after their records were learnt, expired or withdrawn.
    keep_versions : int
        Models before the current one that are kept, at least 2.
    max_classes : int
        Classes that labels and batches may bring, learnt or not; a label of one more is refused.
    label_kind : str or None
        Type of the classes of a model that was saved elsewhere: "str", "int", "float" or "bool".
    log_id : str
        Distinguishes this log from that of another model of the same name, earlier or later.
    tables : {"sqlite", "postgresql"}
        Where ids and labels are joined; it stays where it was when the model was made.
    """

    target: str = "target"
    parameters: dict[str, Any] = field(default_factory=dict)
    batch_size: int = 1_000
    batch_seconds: float | None = None
    label_wait: float = 7 * DAY
    default_label: Any = None
    remember: float = 30 * DAY
    keep_versions: int = 10
    max_classes: int = 1_000
    label_kind: str | None = None
    log_id: str = ""
    tables: str = "sqlite"

    @property
    def schema(self) -> str | None:
        """The schema of PostgreSQL that holds the tables, None where they are in a file."""
        return f"adforest_{self.log_id}" if self.tables == "postgresql" else None

    @classmethod
    def made(cls, given: Mapping[str, Any]) -> ModelSettings:
        """Return the settings of a new model, checked."""
        parameters = checked_parameters(given.get("parameters", {}))
        parameters.setdefault("random_state", secrets.randbelow(2**31))
        target = given.get("target", "target")
        if type(target) is not str or not 0 < len(target) <= 200 or not target.isprintable():
            raise ValueError(
                f"target is {str(target)[:80]!r}; expected the name of the column that holds the classes: 1 to 200 "
                "printable characters."
            )
        new = cls(target=target, parameters=parameters, log_id=secrets.token_hex(8))
        return new.changed({name: value for name, value in given.items() if name not in ("target", "parameters")})

    def changed(self, given: Mapping[str, Any]) -> ModelSettings:
        """Return the settings with some replaced, checked; target and parameters cannot be."""
        unknown = [name for name in given if name not in SETTABLE]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no setting; expected target, parameters, {', '.join(SETTABLE)}.")
        new = replace(self, **given)
        _check_whole("batch_size", new.batch_size, 1, MAX_BATCH)
        _check_whole("keep_versions", new.keep_versions, 2, MAX_VERSIONS)
        _check_whole("max_classes", new.max_classes, 2, MAX_CLASSES)
        for name in ("batch_seconds", "label_wait", "remember"):
            value = getattr(new, name)
            if not (value is None and name == "batch_seconds"):
                _check_seconds(name, value)
        if new.default_label is not None:
            label_text(new.default_label)
        return new

    def dumped(self) -> bytes:
        """Return the settings as they are kept in a file."""
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def loaded(cls, content: bytes) -> ModelSettings:
        """Return the settings of a file."""
        found = json.loads(content)
        return cls(**{one.name: found[one.name] for one in fields(cls) if one.name in found})

    def shown(self) -> dict[str, Any]:
        """Return the settings for a response."""
        return {name: value for name, value in asdict(self).items() if name not in ("label_kind", "log_id")}


def label_text(label: Any) -> str:
    """Return a label as the JSON text that it is kept as.

    Examples
    --------
    >>> label_text("mid"), label_text(3), label_text(True)
    ('"mid"', '3', 'true')
    """
    if type(label) not in (str, int, float, bool) or (type(label) is float and not math.isfinite(label)):
        raise ValueError(f"a label is {str(label)[:80]!r}; expected text, a number, true or false.")
    if type(label) is int and not -(2**63) <= label < 2**63:
        raise ValueError(f"a label is {str(label)[:80]}; expected a number of 64 bits. Send it as text.")
    if type(label) is str and (len(label) > 1_000 or not _is_unicode(label)):
        raise ValueError("a label is text of more than 1,000 characters or of none that are Unicode's.")
    return json.dumps(label)


def label_as(label: str, kind: str) -> str:
    """Return a label, as JSON text, in the kind of those before: there true is 1, and 1 is true.

    Examples
    --------
    >>> label_as("true", "int"), label_as("0", "bool"), label_as("2", "bool")
    ('1', 'false', '2')
    """
    return SAME_LABELS.get((kind, label), label)


def _is_unicode(text: str) -> bool:
    """Return whether text can be written as UTF-8: JSON may hold halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_parameters(given: Any) -> dict[str, Any]:
    """Return parameters of the classifier, or raise its error; a seed of None is as none given."""
    from adforest.adaptive import AdaptiveDecisionForestClassifier
    from adforest.parameters import check_parameters

    if not isinstance(given, Mapping):
        raise ValueError(f"parameters are {str(given)[:80]!r}; expected an object such as {{'n_estimators': 50}}.")
    known = AdaptiveDecisionForestClassifier._get_param_names()
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"{str(unknown[0])[:80]!r} is no parameter; expected {', '.join(known)}.")
    model = AdaptiveDecisionForestClassifier(**given)
    try:
        check_parameters(model, model._rules)
    except (TypeError, ValueError) as error:
        raise ValueError(str(error)) from error
    if model.n_estimators > 10_000 or not (model.n_jobs is None or abs(model.n_jobs) <= 256):
        raise ValueError("n_estimators is more than 10,000 or n_jobs more than 256. Ask for less.")
    return {name: value for name, value in given.items() if name != "random_state" or value is not None}


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model that was saved elsewhere, as far as JSON holds them."""
    from adforest.adaptive import AdaptiveDecisionForestClassifier

    known = AdaptiveDecisionForestClassifier._get_param_names()
    return {name: value for name, value in model.get_params(deep=False).items() if name in known and _is_json(value)}


def fixed_parameters() -> dict[str, Any]:
    """Return the parameters that cannot be changed once a model has learnt, with their defaults."""
    from adforest.adaptive import AdaptiveDecisionForestClassifier

    defaults = AdaptiveDecisionForestClassifier().get_params(deep=False)
    return {name: defaults[name] for name in AdaptiveDecisionForestClassifier._fixed}


def _is_json(value: Any) -> bool:
    """Return whether JSON holds a value as it is."""
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


def _check_whole(name: str, value: Any, low: int, high: int) -> None:
    """Raise if a setting is not an integer within bounds."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} is {value!r:.80}; expected an integer from {low} to {high:,}.")


def _check_seconds(name: str, value: Any) -> None:
    """Raise if a setting is not a duration."""
    if type(value) not in (int, float) or not 0 < value <= MAX_SECONDS:
        raise ValueError(f"{name} is {value!r:.80}; expected seconds, more than 0 and at most ten years.")
