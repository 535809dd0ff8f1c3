"""Tables encoded, and labels read, as those of batches are, each without the other."""

from dataclasses import replace

import numpy as np

from adforest.encoding import EncodingRules, LabelTable, TableEncoder
from adforest.encoding.labels import distinct_labels
from adforest.encoding.tables import source_of

NAME, RULES = "AdaptiveDecisionForestClassifier", EncodingRules()


def learn_table(X, categorical_features="from_dtype", *, batch=1, estimator_name=NAME, rules=RULES):
    """Return the encoder that knows a first table, and the table as a matrix."""
    start, table = TableEncoder.open(X, categorical_features, source_of(batch), estimator_name)
    return _learnt(start, table, None, batch, rules)


def extend_table(encoder, X, batch, rules=RULES):
    """Return the encoder that also knows a later table, and the table as a matrix."""
    table, warning = encoder.read(X, source_of(batch), rules.column_changes)
    return (encoder, table) if isinstance(table, np.ndarray) else _learnt(encoder, table, warning, batch, rules)


def _learnt(encoder, table, warning, batch, rules):
    surveyed, survey = encoder.survey(table, table.source)
    grown = encoder.grown(replace(survey, warning=warning), batch, rules)
    return grown, grown.matrix_of(surveyed)


def learn_labels(y, batch=1):
    """Return the table that knows the labels of a first batch, and their codes."""
    values, codes = distinct_labels(y, source_of(batch))
    return LabelTable.of(values), codes


def extend_labels(labels, y, batch=None):
    """Return the table that also knows the labels of a later batch, and their codes."""
    values, codes = distinct_labels(y, source_of(batch))
    grown = labels.with_values(values, source_of(batch))
    return grown, grown.codes_of(values)[codes]
