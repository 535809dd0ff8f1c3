"""The one error of model files."""


class ModelFileError(ValueError):
    """Raised if a file is not a model that this version can read, or if a model cannot be written to a file."""
