"""Libraries that some rooms need and adforest itself does not."""

from importlib import import_module
from types import ModuleType


def require(module: str, asked_by: str, extra: str | None = None, besides: str = "") -> ModuleType:
    """Import an optional library, or raise an error that names the package to install.

    Parameters
    ----------
    module : str
        The module to import.
    asked_by : str
        The class or function that needs it, for the error.
    extra : str or None, default=None
        The extra of adforest that brings the library; None where there is none.
    besides : str, default=""
        Requirements of the library that pip does not install.
    """
    name = module.partition(".")[0]
    package = name if extra is None else f"'adforest[{extra}]'"
    try:
        return import_module(module)
    except (ImportError, RuntimeError) as error:  # CapyMOA's own error for a missing Java is a RuntimeError
        raise ImportError(
            f"{asked_by} needs {name}, which could not be imported ({error}). Install it with pip install "
            f"{package}{besides}."
        ) from error
