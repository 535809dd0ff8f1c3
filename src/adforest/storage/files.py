"""Save a classifier to a file, and load it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING

from adforest.exceptions import ModelFileError
from adforest.storage.atomic import write_atomically
from adforest.storage.container import Buffer, Content, dump_document, pack, parse_document, unpack

if TYPE_CHECKING:
    from adforest.classifier import BaseADFClassifier

PRIVATE = 0o600  # a model holds samples, which other users of the machine must not read
# Errors that reading damaged content may raise before a check; a loaded model has passed all checks.
DAMAGE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


def save(
    model: BaseADFClassifier,
    path: str | os.PathLike[str],
    *,
    samples: bool = True,
    before_replacing: Callable[[], None] | None = None,
) -> os.stat_result:
    """Write a model to a file, see `BaseADFClassifier.save` and `write_atomically`."""
    return write_atomically(path, packed(model, samples=samples), mode=PRIVATE, before_replacing=before_replacing)


def packed(model: BaseADFClassifier, *, samples: bool = True) -> list[Buffer]:
    """Return the bytes of a model's file, in pieces, or raise `ModelFileError` if they could not be read again."""
    from adforest import __version__
    from adforest.storage.models import classifier_of, content_of

    content = content_of(model, samples=samples)
    try:
        document = dump_document(content.document)
        # A model that cannot be read again is not written: it would replace a file that can.
        classifier_of(Content(parse_document(document), dict(content.arrays)))
    except DAMAGE as error:
        raise ModelFileError(f"this model cannot be saved: {error}") from error
    return pack(document, content.arrays, __version__)


def load(path: str | os.PathLike[str]) -> BaseADFClassifier:
    """Load a model from a file.

    No code from the file is run, and everything in it is validated, so that files from unknown sources do no harm.
    Files of this and of earlier versions can be read, not those of later ones.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    AdaptiveDecisionForestClassifier or PaperADFClassifier
        It predicts and learns further batches as the saved model would. If it was saved with ``samples=False``, it can
        only predict.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a later version.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import adforest
    >>> model = adforest.AdaptiveDecisionForestClassifier(random_state=0).fit([[1.0], [2.0]], ["low", "high"])
    >>> with TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.adf")
    ...     adforest.load(f"{folder}/model.adf").predict([[1.0]]).tolist()
    ['low']
    """
    return unpacked(_read(path), os.fspath(path))


def unpacked(content: bytes, name: str) -> BaseADFClassifier:
    """Return the model whose file has these bytes, or raise `ModelFileError` with the name of the file."""
    try:
        from adforest.storage.models import classifier_of

        return classifier_of(unpack(content))
    except DAMAGE as error:
        raise ModelFileError(f"{name} cannot be loaded: {error or type(error).__name__}") from error


def _read(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a regular file; a device or a pipe might have no end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: it is no regular file")
    with open(path, "rb") as file:
        return file.read(os.fstat(file.fileno()).st_size)
