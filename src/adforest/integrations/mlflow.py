"""Models in MLflow: a flavour that logs, registers, loads and serves them.

Needs ``pip install 'adforest[mlflow]'``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import adforest
from adforest.classifier import BaseADFClassifier
from adforest.exceptions import InputTypeError, ModelFileError, ParameterError

try:
    import mlflow
    from mlflow.models import Model, infer_signature
except ImportError as error:
    raise ImportError(
        f"adforest.integrations.mlflow needs MLflow, which could not be imported ({error}). Install it with "
        "pip install 'adforest[mlflow]'."
    ) from error

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR_NAME = "adforest"
METHODS = ("predict", "predict_proba")


def save_model(
    model: BaseADFClassifier,
    path: str | Path,
    *,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    metadata: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Save a model to a folder, in MLflow's layout.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier or PaperADFClassifier
        A model that has learnt at least one batch.
    path : str or Path
        The folder, which must not exist or be empty.
    mlflow_model : mlflow.models.Model, optional
        The description that the flavour is added to.
    signature : mlflow.models.ModelSignature, optional
        Names and types of inputs and outputs. MLflow enforces them: it refuses samples that lack a column or
        hold another type, before the model sees them. By default that of `input_example`, if there is one.
    input_example : data frame or array, optional
        A few samples.
    pip_requirements : list of str, optional
        Requirements of an environment that serves the model; by default this version of adforest.
    metadata : dict, optional
    **kwargs
        Further arguments of `mlflow.pyfunc.save_model`.
    """
    if not isinstance(model, BaseADFClassifier):
        raise InputTypeError(
            f"model is of type {type(model).__name__}; expected AdaptiveDecisionForestClassifier or "
            "PaperADFClassifier. Log a pipeline with mlflow.sklearn."
        )
    model._checked()
    if signature is None and input_example is not None:
        params = {"method": METHODS[0]}  # parameters of a request, with their defaults
        signature = infer_signature(input_example, model.predict(input_example), params)
    description = Model() if mlflow_model is None else mlflow_model
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.adf"
        model.save(file)
        description.add_flavor(
            FLAVOR_NAME,
            adforest_version=adforest.__version__,
            model_class=type(model).__name__,
            data=f"data/{file.name}",
        )
        mlflow.pyfunc.save_model(
            str(path),
            loader_module=__name__,
            data_path=str(file),
            mlflow_model=description,
            signature=signature,
            input_example=input_example,
            pip_requirements=[f"adforest=={adforest.__version__}"] if pip_requirements is None else pip_requirements,
            metadata=metadata,
            **kwargs,
        )


def log_model(
    model: BaseADFClassifier, name: str = "model", *, registered_model_name: str | None = None, **kwargs: Any
) -> Any:
    """Log a model in MLflow, and register it if a name is given.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier or PaperADFClassifier
        A model that has learnt at least one batch.
    name : str, default="model"
        Name of the model among the artifacts of the run.
    registered_model_name : str, optional
        Name in the registry, where it becomes the next version.
    **kwargs
        Arguments of `save_model` (``signature``, ``input_example``, ``pip_requirements``, ``metadata``) and of
        `mlflow.models.Model.log` (``params``, ``tags``, ``model_type``, ``step``, ``model_id``).

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` is the argument of `load_model`.
    """
    return Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        model=model,
        registered_model_name=registered_model_name,
        **kwargs,
    )


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """Load a model that was saved or logged; it can go on learning.

    Parameters
    ----------
    model_uri : str
        A folder, or a model URI of MLflow: ``models:/name/version``, ``models:/name@alias``, ``runs:/id/name``.
    dst_path : str, optional
        An existing folder that files are downloaded to.

    Returns
    -------
    AdaptiveDecisionForestClassifier or PaperADFClassifier
    """
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=str(model_uri), dst_path=dst_path))
    flavors = Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        found = ", ".join(sorted(flavors))
        raise ModelFileError(
            f"{model_uri} is no model of adforest; its flavours are {found}. Load it with one of these."
        )
    return adforest.load(folder / flavors[FLAVOR_NAME]["data"])


class ServedModel:
    """The model as returned by `mlflow.pyfunc.load_model`, also in a scoring server.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier or PaperADFClassifier
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_raw_model(self) -> Any:
        """Return the model itself."""
        return self.model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Predict the class of each sample, or class probabilities.

        Parameters
        ----------
        model_input : data frame or array
        params : dict, optional
            With ``{"method": "predict_proba"}`` a data frame of class probabilities is returned.
        """
        method = (params or {}).get("method", METHODS[0])
        if method not in METHODS:
            raise ParameterError(f"method is {method!r}; expected {' or '.join(map(repr, METHODS))}.")
        if method == "predict":
            return self.model.predict(model_input)
        from pandas import DataFrame

        return DataFrame(self.model.predict_proba(model_input), columns=self.model.classes_)


def _load_pyfunc(path: str) -> ServedModel:
    """Return the model for `mlflow.pyfunc.load_model`."""
    return ServedModel(adforest.load(path))
