"""The one error of model files."""


class ModelFileError(ValueError):
    """A file is no model that this version can read, or a model cannot be written to a file."""
