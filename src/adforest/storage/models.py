"""A whole classifier as the content of a model file, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.base import get_fitted, set_fitted
from adforest.classifier import BaseADFClassifier
from adforest.estimator_settings import read_settings
from adforest.exceptions import ModelFileError
from adforest.growers import GROWERS
from adforest.paper import PaperADFClassifier
from adforest.parameters import check_parameters
from adforest.snapshot import FittedForests
from adforest.storage.container import Content
from adforest.storage.encoders import codes_by_column, read_encoder, read_labels, write_encoder, write_labels
from adforest.storage.fields import Flag, IntegerField, PartReader, PartWriter, Sizes, read_fields, write_fields
from adforest.storage.origin_fields import read_origins, write_origins
from adforest.storage.state_fields import read_state, write_state
from adforest.storage.track_fields import read_history, read_track, write_history, write_track
from adforest.storage.values import decode, encode

CLASSIFIERS: dict[str, type[BaseADFClassifier]] = {
    kind.__name__: kind for kind in (AdaptiveDecisionForestClassifier, PaperADFClassifier)
}
BEFORE = {"criterion": "entropy"}  # values from before a parameter existed, where its default differs
MAX_TREES = 2**20  # maximum of n_estimators
MODEL = (
    IntegerField("n_batches", low=1, below=2**31 - 1),
    IntegerField("n_samples", low=1),
    IntegerField("seed", below=2**31),
    Flag("has_samples"),
)
N_TRIED = IntegerField("n_tried_features", low=1, below="n_columns_and_1")  # at each node, when trees were last grown


def content_of(classifier: BaseADFClassifier, *, samples: bool) -> Content:
    """Return the content of a classifier's file; another thread may be learning meanwhile."""
    kind = type(classifier).__name__
    if CLASSIFIERS.get(kind) is not type(classifier):
        raise ModelFileError(
            f"{type(classifier).__qualname__} is none of {', '.join(CLASSIFIERS)}; a file holds no code of other "
            "classes. Pickle the model instead."
        )
    model = get_fitted(classifier)
    check_parameters(classifier, classifier._rules)
    state = model.state
    has_samples = samples and model.has_samples
    out = PartWriter({"kind": kind}, {})
    _write_parameters(classifier.get_params(deep=False), out.part("parameters"))
    _write_parameters(model.fixed, out.part("fixed"))
    write_fields(MODEL, model, out)
    out.set("has_samples", has_samples)
    N_TRIED.write(state.settings.grower.params.max_features, out)
    write_encoder(model.encoder, out.part("columns"))
    write_labels(model.labels, out.part("classes"))
    write_state(state if has_samples else state.without_samples(), out.part("state"))
    track = model.track if has_samples else model.track.without_samples()
    write_history(track.history, out.part("history"))
    write_track(track, out.part("track"))
    write_origins(model.origins, out)
    return Content(out.values, out.arrays)


def classifier_of(content: Content) -> BaseADFClassifier:
    """Return the classifier of a file, or raise if there is none."""
    part = PartReader(content.document, content.arrays)
    kind = part.value("kind")
    if type(kind) is not str or kind not in CLASSIFIERS:
        raise part.wrong("kind", kind, " or ".join(CLASSIFIERS))
    classifier, fixed = _read_classifier(part, CLASSIFIERS[kind])
    sizes: Sizes = {}
    known = read_fields(MODEL, part, sizes)
    sizes |= {"next_call": known["n_batches"] + 1, "n_samples": known["n_samples"]}
    sizes["n_samples_and_1"] = known["n_samples"] + 1
    encoder = read_encoder(part.part("columns"), sizes, kind)
    labels = read_labels(part.part("classes"), sizes)
    n_codes = codes_by_column(encoder)
    as_learnt = CLASSIFIERS[kind](**classifier.get_params(deep=False) | fixed)
    settings = read_settings(as_learnt, encoder.n_columns, known["seed"])
    n_tried = N_TRIED.read(part, {"n_columns_and_1": encoder.n_columns + 1})
    params = replace(settings.grower.params, max_features=n_tried)
    settings = replace(settings, grower=GROWERS[as_learnt.base_forest](params))
    state = read_state(part.part("state"), sizes, settings, n_codes, has_samples=known["has_samples"])
    history = read_history(part.part("history"), state.n_calls)
    track = read_track(part.part("track"), sizes, n_codes, history)
    origins = read_origins(part)
    part.finish()
    if content.arrays:
        raise ModelFileError(f"the array {next(iter(content.arrays))} is not known to this version")
    set_fitted(classifier, FittedForests(encoder, labels, state, fixed=fixed, origins=origins, track=track, **known))
    return classifier


def _write_parameters(parameters: dict[str, Any], out: PartWriter) -> None:
    """Write parameters. A random generator is not saved, but the seed that the model drew from it."""
    for name, value in parameters.items():
        if name == "random_state" and not isinstance(value, int | np.integer):
            value = None
        out.values[name] = encode(value, name)


def _read_classifier(part: PartReader, kind: type[BaseADFClassifier]) -> tuple[BaseADFClassifier, dict[str, Any]]:
    """Return an unfitted classifier, and the parameters that cannot change between batches.

    Parameters that did not exist when a file was written have the value that all models had then.
    """
    names = list(kind._get_param_names())
    then = {name: value for name, value in BEFORE.items() if name in names}
    classifier = kind(**then | _read_parameters(part.part("parameters"), names))
    fixed = {name: getattr(classifier, name) for name in kind._fixed}
    fixed |= _read_parameters(part.part("fixed"), list(kind._fixed))
    for parameters in ({}, fixed):
        try:
            check_parameters(kind(**classifier.get_params(deep=False) | parameters), kind._rules)
        except ValueError as error:
            raise ModelFileError(str(error)) from error
    if fixed["n_estimators"] > MAX_TREES:
        raise ModelFileError(f"n_estimators is {fixed['n_estimators']}, expected {MAX_TREES} at most")
    return classifier, fixed


def _read_parameters(part: PartReader, names: list[str]) -> dict[str, Any]:
    """Return those parameters that a file has."""
    found = {name: decode(part.value(name), name) for name in names if name in part}
    part.finish()
    return found
