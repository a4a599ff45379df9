"""What a transaction does after one of its statements has failed: PostgreSQL refuses all further ones."""

import re

#: A closure that gets a connection.
TRANSACTION = re.compile(
    r"\b(?:write|writeBlocking|submit|read|readBlocking|readInBackground\w*|readPage)(?:<[^>]*>)?"
    r"(?:\([^{}]*\))? \{(?= *(?:\[[^\]]*\] ?)?\(?(?:connection|transaction)\b|[^\n]*\(\$0\)|[^\n]*\$0\.)"
)
RECORDS = re.compile(r"\b(?:struct|extension|class|enum) \w+Records\b[^{\n]*\{")
CATCH = re.compile(r"\bcatch\b[^{\n]*\{")


def block(text: str, start: int) -> str:
    """Returns the text between the brace at `start` and the one that closes it."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[start + 1 : index]
    return text[start + 1 :]


def problems(text: str) -> dict[int, str]:
    """Returns what is wrong, by the position in a source."""
    found = {}
    for begin in [*TRANSACTION.finditer(text), *RECORDS.finditer(text)]:
        start = text.index("{", begin.end() - 1)
        body = block(text, start)
        for catch in CATCH.finditer(body):
            if not re.search(r"\bthrow\b", block(body, catch.end() - 1)):
                found[start + 1 + catch.start()] = (
                    "a catch in a transaction throws: no statement may follow a failed one"
                )
        for ignored in re.finditer(r"\btry\?", body):
            found[start + 1 + ignored.start()] = "no try? in a transaction: no statement may follow a failed one"
    return found
