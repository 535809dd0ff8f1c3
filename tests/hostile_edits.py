"""What an enemy does to a model file, and that it is refused."""

import pytest

import adforest
from adforest import ModelFileError


def refuse(packed, path, match):
    path.write_bytes(packed)
    with pytest.raises(ModelFileError, match=match) as caught:
        adforest.load(path)
    assert path.name in str(caught.value)


def put(name, place, value):
    """Return an edit that sets one number of an array."""

    def edit(document, arrays):
        arrays[name][place] = value

    return edit


def say(*way):
    """Return an edit that sets one value of the document."""
    *path, last, value = way

    def edit(document, arrays):
        for key in path:
            document = document[key]
        document[last] = value

    return edit


def replace_array(name, change):
    def edit(document, arrays):
        arrays[name] = change(arrays[name])

    return edit
