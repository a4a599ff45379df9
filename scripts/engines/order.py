"""The place of NULL in the order of rows: SQLite sorts it first, PostgreSQL last.

Whether a column may be NULL is known from the migrations. A column that a condition compares with a value, or for which it requires
a value, is never NULL in the result; a column of a table in a LEFT JOIN may be.
"""

import re
from collections.abc import Iterator

from . import schema

_SOURCE = re.compile(
    r"\b(LEFT JOIN|FROM|JOIN|INTO|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?(?!WHERE\b|ON\b|JOIN\b|LEFT\b|CROSS\b|ORDER\b|SET\b|GROUP\b|LIMIT\b|UNION\b)(\w+))?"
)
_ORDER = re.compile(r"\bORDER BY\s+")
_COLUMN = re.compile(r"(?:\b(\w+)\.)?\b([a-z_]\w*)\b(?!\s*\()")
#: The words after the columns of an ORDER BY.
_AFTER = re.compile(r"\s+(LIMIT|OFFSET|ROWS|RANGE|RETURNING)\b")
_DIRECTION = re.compile(r"\s+(ASC|DESC)$")


def terms(text: str) -> Iterator[str]:
    """Returns the terms of all ORDER BY in a statement."""
    for order in _ORDER.finditer(text):
        at, depth, term = order.end(), 0, ""
        while at < len(text) and not (depth == 0 and (text[at] == ")" or _AFTER.match(text, at))):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            if depth == 0 and text[at] == ",":
                yield term.strip()
                term = ""
            else:
                term += text[at]
            at += 1
        yield term.strip()


def may_be_null(name: str, text: str, table: str) -> bool:
    """Whether a column may be NULL in the rows of a statement; `table` is the name in front of it, or empty."""
    required = re.search(rf"\b{name}\b\)?\s*(<|>|=|BETWEEN\b|IN\b|IS NOT NULL)|[<>=]\s*(\w+\.)?{name}\b", text)
    if required:
        return False
    columns = schema.all_columns()
    for join, source, alias in _SOURCE.findall(text):
        if table and table not in (source, alias):
            continue
        column = columns.get(source, {}).get(name)
        if column and (column.is_nullable or join == "LEFT JOIN"):
            return True
    return False


def problems(text: str) -> Iterator[str]:
    """Returns the terms of a statement that do not say where NULL comes."""
    for term in terms(text):
        if re.search(r"\bNULLS (FIRST|LAST)$", term):
            continue
        expression = _DIRECTION.sub("", term)
        # A value that replaces NULL.
        expression = re.sub(r"\bcoalesce\((?:[^()]|\([^()]*\))*, ('[^']*'|\d+|\$\d+)\)", "", expression)
        if any(may_be_null(name, text, table) for table, name in _COLUMN.findall(expression)):
            yield term
