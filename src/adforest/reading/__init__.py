"""Batches from files: CSV, JSON, ARFF, Parquet and Arrow tables, compressed or not, one by one or a folder of them."""

from adforest.reading.files import FileBatch, FileBatches, read_batches

__all__ = ["FileBatch", "FileBatches", "read_batches"]
