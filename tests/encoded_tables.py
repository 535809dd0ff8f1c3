"""Tables encoded as batches are, without the labels of a batch."""

from dataclasses import replace

import numpy as np

from adforest.encoding import EncodingRules, TableEncoder
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
