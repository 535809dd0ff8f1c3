"""One forest of a model as a Treelite model, for tl2cgen and nvForest (``pip install 'adforest[treelite]'``)."""

from __future__ import annotations

from typing import Any

from adforest.adaptation import find_forest
from adforest.classifier import read_model
from adforest.forest import Tree
from adforest.forest.types import Float64Array
from adforest.integrations._forests import LeafProba, leaf_probabilities, splits_of
from adforest.libraries import require
from adforest.snapshot import Snapshot

__all__ = ["encode_table", "to_treelite"]


def to_treelite(model: Any, forest: str = "permanent") -> Any:
    """Return one forest of a model as a Treelite model.

    Its input is the result of `encode_table`, its output the mean over the trees of the forest: of the shrunk class
    probabilities of `AdaptiveDecisionForestClassifier`, so that the permanent forest is the model with
    ``answer_for="everything"``, or of the votes of `PaperADFClassifier`, hard or soft. The weights of the forests and
    other parts of the vote are not in it: see `adforest.integrations.onnx.to_onnx`.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier, PaperADFClassifier or Snapshot
    forest : {"permanent", "active", "temporary", "newest"}, default="permanent"

    Returns
    -------
    treelite.Model
        Thresholds and leaves are float64. Outputs are in the order of ``classes_``. They add up to 1, except for
        samples that reach an empty leaf of `PaperADFClassifier`.

    Examples
    --------
    >>> import treelite
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.integrations.treelite import encode_table, to_treelite
    >>> model = AdaptiveDecisionForestClassifier(answer_for="everything", random_state=0)
    >>> model = model.fit([[1.0, "a"], [2.0, "a"], [8.0, "b"]], ["low", "low", "high"])
    >>> samples = encode_table(model, [[1.5, "a"], [None, "b"]])
    >>> proba = treelite.gtil.predict(to_treelite(model), samples)[:, 0, :]
    >>> bool(abs(proba - model.predict_proba([[1.5, "a"], [None, "b"]])).max() < 1e-12)
    True
    """
    parts = require("treelite.model_builder", "to_treelite", "treelite")
    known = read_model(model, "to_treelite")
    trees, n_classes = find_forest(known.state, forest).trees, len(known.labels.by_arrival)
    builder = parts.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=parts.Metadata(
            num_feature=known.encoder.n_columns,
            task_type="kMultiClf",
            average_tree_output=True,
            num_target=1,
            num_class=[n_classes],
            leaf_vector_shape=(1, n_classes),
        ),
        tree_annotation=parts.TreeAnnotation(
            num_tree=len(trees), target_id=[0] * len(trees), class_id=[-1] * len(trees)
        ),
        postprocessor=parts.PostProcessorFunc(name="identity_multiclass"),
        base_scores=[0.0] * n_classes,
    )
    for tree, answers in zip(trees, leaf_probabilities(known, forest), strict=True):
        _add_tree(builder, tree, answers)
    return builder.commit()


def encode_table(model: Any, X: Any) -> Float64Array:
    """Return samples as the matrix that the trees of a model, and a Treelite model of it, read.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier, PaperADFClassifier or Snapshot
    X : array-like or data frame of shape (n_samples, n_features)

    Returns
    -------
    ndarray of float64 of shape (n_samples, n_columns)
        Numbers, dates and durations in seconds, categories as codes; NaN for missing and unknown values. The last
        columns are the current class rates of categories, if the model uses any.
    """
    known = read_model(model, "encode_table")
    column_changes = model._column_changes if isinstance(model, Snapshot) else model.column_changes
    return known.encoder.translate(X, column_changes)


def _add_tree(builder: Any, tree: Tree, answers: LeafProba) -> None:
    """Add one tree; nodes keep their indices."""
    asked = splits_of(tree)
    builder.start_tree()
    columns = (asked.node, asked.feature, asked.threshold, asked.by_categories, asked.missing_left, asked.left)
    for node, feature, threshold, by_categories, missing_left, left in zip(*(c.tolist() for c in columns), strict=True):
        builder.start_node(node)
        sides = {"default_left": missing_left, "left_child_key": left, "right_child_key": left + 1}
        if by_categories:  # categories in no list go where missing values go
            builder.categorical_test(
                feature,
                category_list=asked.members[node].tolist(),
                category_list_right_child=missing_left,
                **sides,
            )
        else:
            builder.numerical_test(feature, threshold, opname="<=", **sides)
        builder.end_node()
    for node, proba in zip(answers.node.tolist(), answers.proba.tolist(), strict=True):
        builder.start_node(node)
        builder.leaf(proba)
        builder.end_node()
    builder.end_tree()
