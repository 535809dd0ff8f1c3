"""What is known of each archive: its address, the format of its files, and a digest of the table they make."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SITE = "https://archive.ics.uci.edu/static/public"
CLASS_COLUMN = "class"

Columns = dict[str, NDArray[np.generic]]
Layout = dict[str, type[np.generic] | None]


@dataclass(frozen=True)
class Source:
    """One archive, and the table it holds.

    Attributes
    ----------
    address : str
        Where the archive lies on UCI's site.
    members : str
        Pattern of the files that hold records, in whatever folder they lie. Its group ``label``, where it has one, is
        the class of all records of a file.
    layout : dict of str to type or None
        The fields of a record in the order of the file, the label last; a field without a type is left out.
    n_samples : int
        How many records the table has.
    digest : str
        What `digest_columns` returns for the table.
    undigested : tuple of str
        Columns the digest does not cover.
    """

    address: str
    members: str
    layout: Layout
    n_samples: int
    digest: str
    undigested: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The address in full."""
        return f"{SITE}/{self.address}"


def _numbers(*names: str) -> Layout:
    """Return the layout of fields that are all numbers."""
    return dict.fromkeys(names, np.float64)


# The digests are of the tables, not of the archives: the records are what must be right, however they are packed. So
# a download is taken as it comes, and checked once it is parsed.
SOURCES = {
    "arem": Source(
        address="366/activity+recognition+system+based+on+multisensor+data+fusion+arem.zip",
        members=r"(?P<label>bending1|bending2|cycling|lying|sitting|standing|walking)/dataset\d+\.csv",
        layout={"time": np.int64}
        | _numbers("avg_rss12", "var_rss12", "avg_rss13", "var_rss13", "avg_rss23", "var_rss23")
        | {CLASS_COLUMN: np.str_},
        n_samples=42_239,
        digest="02fdf711e7b3bb3d912464c6be61063b2fb1b78a923ba6edd35120ca8f5b199c",
    ),
    "avila": Source(
        address="459/avila.zip",
        members=r"avila-t[rs]\.txt",
        layout=_numbers(
            "intercolumnar_distance",
            "upper_margin",
            "lower_margin",
            "exploitation",
            "row_number",
            "modular_ratio",
            "interlinear_spacing",
            "weight",
            "peak_number",
            "modular_ratio_by_interlinear_spacing",
        )
        | {CLASS_COLUMN: np.str_},
        n_samples=20_867,
        digest="8de8ad678f5eb6b0fe18a1e175be27344174e52d4875c9ba055d01c019bffe07",
    ),
    "eb": Source(
        address="290/tamilnadu+electricity+board+hourly+readings.zip",
        members=r"eb\.arff",
        layout=_numbers("forkva", "forkw") | {"type": np.str_, "sector": np.int64, CLASS_COLUMN: np.str_},
        n_samples=45_781,
        digest="74b0c9a216b6923ec2fb735df979d5cbf6c47985551bcae82c87a475a3a047b4",
    ),
    "ldpa": Source(
        address="196/localization+data+for+person+activity.zip",
        members=r"ConfLongDemo_JSI\.txt",
        # The paper counts five predictors, which leaves no room for the two clocks.
        layout={"sequence": np.str_, "tag": np.str_, "timestamp": None, "date": None}
        | _numbers("x", "y", "z")
        | {CLASS_COLUMN: np.str_},
        n_samples=164_860,
        digest="2d9c631a23e00b72874bfa7f35eba49e2451ff8b4d9802f69380014cb19dfd2f",
        # Copies in circulation round the coordinates in different ways; all else is the same in each.
        undigested=("x", "y", "z"),
    ),
    "uifwa": Source(
        address="286/user+identification+from+walking+activity.zip",
        members=r"(?P<label>\d+)\.csv",
        layout=_numbers("time", "x", "y", "z") | {CLASS_COLUMN: np.str_},
        n_samples=149_332,
        digest="3c4a1b7bc6b80f78d6657fd610b45ec53d7d3e790f5d26429b6eec771a6c316a",
    ),
}


def digest_columns(columns: Columns, undigested: tuple[str, ...] = ()) -> str:
    """Return the SHA-256 of a table: each column's name and its values in record order.

    Parameters
    ----------
    columns : dict of str to ndarray
        Text counts as UTF-8, one value a line; numbers of any type count as float64.
    undigested : tuple of str
        Columns to leave out.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name, values in columns.items():
        if name in undigested:
            continue
        # Adding zero makes -0 and 0 the same bytes.
        content = "\n".join(values).encode() if values.dtype.kind == "U" else (values.astype("<f8") + 0.0).tobytes()
        digest.update(f"{name}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()


def check_columns(name: str, columns: Columns) -> None:
    """Raise an error unless a table is the data set of that name.

    Parameters
    ----------
    name : str
        Which data set.
    columns : dict of str to ndarray
        The table.

    Raises
    ------
    ValueError
        If the number of records or the digest differs.
    """
    source = SOURCES[name]
    n_samples = len(columns[CLASS_COLUMN])
    digest = digest_columns(columns, source.undigested)
    if (n_samples, digest) != (source.n_samples, source.digest):
        raise ValueError(
            f"it gave {n_samples:,} records of {', '.join(columns)} with digest {digest}, expected "
            f"{source.n_samples:,} records with digest {source.digest}"
        )
