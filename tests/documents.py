"""The examples of documentation pages, to be run by tests."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def run_section(heading: str, page: str = "docs/integrations.md") -> dict[str, Any]:
    """Run the Python examples of a section, one after the other, and return the names they define."""
    sections = re.split(r"^## ", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    [section] = [one for one in sections if one.startswith(f"{heading}\n")]
    examples = re.findall(r"^```python\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    assert examples, f"{page} has no example of {heading}"
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, f"{page}, {heading}", "exec"), names)
    return names
