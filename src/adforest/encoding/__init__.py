"""Encoding of tables and labels: samples become matrices, labels become codes; later batches may add new ones."""

from adforest.encoding.categories import EncodingRules
from adforest.encoding.encoder import TableEncoder
from adforest.encoding.labels import LabelTable, check_same_length

__all__ = ["EncodingRules", "LabelTable", "TableEncoder", "check_same_length"]
