"""The round trips of a call's statements, as a database on the network will have them.

Statements whose text and arguments do not depend on an earlier result go together. A round trip ends where a statement's
argument was read since its beginning, and where a transaction writes after it has read: what was read decides whether it
writes. BEGIN and COMMIT go with the statements of their transaction.
"""

import re

#: The arguments of a statement in its text with arguments.
_LITERAL = re.compile(r"x?'(?:[^']|'')*'|\b\d+\b", re.IGNORECASE)
#: A shorter value, such as a state or a count, may be equal by chance.
_SHORTEST = 3


def _arguments(text: str) -> set[str]:
    return {literal.strip("'").replace("''", "'") for literal in _LITERAL.findall(text)}


def count(records: list[tuple[str, str]]) -> int:
    """Returns the number of round trips of statements; `records` are those of `struct counters`, by kind."""
    trips = 0
    known: set[str] = set()
    read: set[str] = set()
    returned: set[str] = set()
    is_open = has_read = writes = False
    for kind, text in records:
        if kind == "R":
            values = set(text.split("\x1f")) - {""}
            # What a write returns is new, however short it is.
            returned |= values if writes else set()
            read |= {value for value in values if len(value) >= _SHORTEST}
            continue
        if kind != "A":
            continue
        verb = text.split(None, 1)[0].upper()
        if verb in ("BEGIN", "COMMIT", "ROLLBACK"):
            is_open = is_open and verb != "BEGIN"
            continue
        arguments = _arguments(text)
        writes = verb not in ("SELECT", "WITH", "SAVEPOINT", "RELEASE")
        if not is_open or arguments & (read - known | returned) or (writes and has_read):
            trips += 1
            is_open, has_read = True, False
            known |= read
            read, returned = set(), set()
        has_read = has_read or not writes
        known |= arguments
    return trips
