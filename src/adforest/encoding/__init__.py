"""Tables in: samples become matrices of numbers, labels become codes, and both grow with what arrives later."""

from adforest.encoding.categories import EncodingRules
from adforest.encoding.encoder import TableEncoder
from adforest.encoding.labels import LabelTable, check_same_length

__all__ = ["EncodingRules", "LabelTable", "TableEncoder", "check_same_length"]
