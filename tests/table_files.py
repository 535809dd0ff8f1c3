"""Tables written as files of every format, for tests that read them."""

import json

import pyarrow as pa
from pyarrow import csv, feather, ipc, parquet

TEXT_FORMATS = ("csv", "tsv", "csv.gz", "csv.bz2", "tsv.zst", "CSV", "jsonl", "ndjson", "jsonl.gz", "arff", "arff.gz")
FORMATS = (*TEXT_FORMATS, "parquet", "arrow", "arrows", "feather", "ipc")
EXPECTED = {
    "area m²": [55.5, None, 70.0, 120.25],
    "beds": [1.0, 2.0, None, 4.0],
    "street, name": ["Ahornstraße", 'a "b", c', None, "it's\\here"],
    "view": [1.0, 0.0, None, 1.0],
}
RENTS = ["low", "high", "very high", "low"]
TABLE = pa.table(
    {
        "area m²": EXPECTED["area m²"],
        "beds": pa.array([1, 2, None, 4]),
        "street, name": EXPECTED["street, name"],
        "view": [True, False, None, True],
        "rent": RENTS,
    }
)


def quoted(value):
    """Return a value as ARFF writes it."""
    if value is None:
        return "?"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(int(value) if isinstance(value, bool) else value)


def as_arff(table):
    kinds = {"beds": "integer", "street, name": "string", "rent": "{low, high, 'very high'}"}
    lines = [f"@attribute {quoted(name)} {kinds.get(name, 'numeric')}" for name in table.column_names]
    rows = [",".join(map(quoted, row)) for row in zip(*table.to_pydict().values(), strict=True)]
    return "\n".join(["% a comment", "@relation houses", *lines, "@data", *rows, ""])


def write(table, path):
    """Write a table in the format its path asks for."""
    name = path.name.lower()
    if ".arff" in name:
        with pa.output_stream(str(path), compression="detect") as stream:
            stream.write(as_arff(table).encode())
    elif ".jsonl" in name or ".ndjson" in name:
        with pa.output_stream(str(path), compression="detect") as stream:
            stream.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
    elif ".csv" in name or ".tsv" in name:
        with pa.output_stream(str(path), compression="detect") as stream:
            csv.write_csv(table, stream, csv.WriteOptions(delimiter="\t" if ".tsv" in name else ","))
    elif name.endswith(".parquet"):
        parquet.write_table(table, path, row_group_size=3)
    elif name.endswith((".feather", ".ipc")):
        feather.write_feather(table, str(path), chunksize=3)
    else:
        with (ipc.new_stream if name.endswith("s") else ipc.new_file)(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=3)


def write_text(folder, files, encoding="utf-8"):
    """Write files given as text, and return their folder."""
    for name, text in files.items():
        (folder / name).write_bytes(text.encode(encoding))
    return folder


def joined(batches):
    """Return all samples and all classes of some batches."""
    batches = list(batches)
    return pa.concat_tables([batch.X for batch in batches]).to_pydict(), [
        y for batch in batches for y in batch.y.tolist()
    ]


def long_file(last):
    """Return a CSV file of more than a megabyte whose last sample differs."""
    return "a,y\n" + "1234567,u\n" * 150_000 + f"{last},u\n"


def until_error(batches):
    """Return the values of column 'a' and the classes that come before an error, and the error in words."""
    samples, classes = [], []
    try:
        for batch in batches:
            samples += batch.X["a"].to_pylist()
            classes += batch.y.tolist()
    except ValueError as error:
        return samples, classes, str(error)
    return samples, classes, None
