"""The SQL texts among the string literals of Sources, and the migrations."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A literal that begins like this is a statement.
STATEMENT = re.compile(
    r"\s*(SELECT|WITH|INSERT INTO|INSERT OR|REPLACE INTO|DELETE FROM|CREATE|ALTER|DROP|PRAGMA|VACUUM|ANALYZE|ATTACH)\s"
    r"|\s*UPDATE\s+\w+\s+SET\s|\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b"
)
#: An interpolation whose value is known only at run time, in the text of a statement.
UNKNOWN = re.compile(r"\\\(")
#: The name of a constant, or of a computed property, in front of its literal.
_NAMED = re.compile(r"(?:let (\w+)(?:: String)?\s*=|var (\w+): String\s*\{)\s*$")
_TYPE = re.compile(r"^(?:\w+ )*(?:extension|struct|enum|class|actor|protocol) ([A-Z]\w*)", re.MULTILINE)
_NUMBER = re.compile(r"static let (\w+)(?:: Int\w*)? = ([\d_]+)\b|case (\w+) = (\d+)\b")
#: The statements that belong to one engine, with the reason why there is no text for both engines.
ENGINE = {
    r"(ALTER TABLE \w+ ADD COLUMN \w+|CREATE TABLE \w+ \([\s\S]*?) (BIGINT|BYTEA|TEXT COLLATE)\b": "migrations of PostgreSQL, of which the baseline has the result",
    r"SELECT .* FROM \w+_newest\(": "finds the newest version of a counter on PostgreSQL",
    r"PRAGMA ": "reads or changes settings of SQLite, or checks its file",
    r"BEGIN( IMMEDIATE)?$|COMMIT$|ROLLBACK$|(SAVEPOINT|RELEASE|ROLLBACK TO) write$": "transactions of SQLite's one writer",
    r"CREATE TABLE IF NOT EXISTS migrations |.*\b(FROM|INTO) migrations\b": "each engine has migrations of its own",
    r".*\bsqlite_schema\b": "lists the tables of SQLite's file",
    r"(SELECT|DELETE|INSERT OR REPLACE)\b.* (FROM|INTO) \"\w+\"": "copies the rows of a table from one engine to the other",
    r"(DROP|CREATE) TRIGGER |.*\b(sqlite_master|sqlite_sequence|pragma_\w+)\b": "copies rows into SQLite's file, or from it",
}
#: The raw value of a case, which has the name of its type or of an instance in front.
_RAW_VALUE = re.compile(r"(\w+\.)+\w+\.rawValue")
_CHOICE = re.compile(r'[^"]*\?\s*"([^"\\]*)"\s*:\s*"([^"\\]*)"')
_PARAMETERS = re.compile(r"ParameterList\.text\((\d+|[\w.]+)(?:, from: (\d+))?\)")
_PERMIT = re.compile(r'permit\.isBefore\("([^"]*)", "([^"]*)"\)')
_MIGRATION = re.compile(r'Migration\(\s*name:\s*"([\w-]+)",\s*sql:\s*$')
#: What is in front of a migration's text for PostgreSQL.
_POSTGRES = re.compile(r"\bpostgres:\s*$")
#: The largest number of variants of a text; with more, its interpolations count as unknown.
_MOST_VARIANTS = 16


@dataclass(frozen=True)
class Literal:
    """A string literal; `text` has its interpolations as written."""

    file: str
    line: int
    text: str
    #: The source in front of the literal.
    before: str
    #: The name of the type that it is in.
    type: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def is_member(self) -> bool:
        """Whether the literal is the value of a type's property, and not of a local constant."""
        line = self.before.rpartition("\n")[2] or self.before.rstrip().rpartition("\n")[2]
        return len(line) - len(line.lstrip()) <= 4

    @property
    def migration(self) -> str | None:
        """The name of the migration whose text the literal is."""
        match = _MIGRATION.search(self.before)
        return match and match[1]

    @property
    def is_for_postgres(self) -> bool:
        """Whether the literal is the text of a migration for PostgreSQL."""
        return _POSTGRES.search(self.before) is not None


def _end_of_interpolation(source: str, at: int) -> int:
    """Returns the index after the parenthesis that closes the interpolation whose content begins at `at`."""
    depth = 1
    while depth:
        if source[at] == '"':
            at = _end_of_literal(source, at + 1, '"', "\\")
            continue
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return at


def _end_of_literal(source: str, at: int, quotes: str, escape: str) -> int:
    """Returns the index after the closing quotation marks of a literal whose content begins at `at`."""
    while not source.startswith(quotes, at):
        if at >= len(source):
            raise ValueError(f"a string literal has no end: {source[:200]}")
        if source.startswith(escape + "(", at):
            at = _end_of_interpolation(source, at + len(escape) + 1)
        elif source.startswith(escape, at):
            at += len(escape) + 1
        else:
            at += 1
    return at + len(quotes)


def _content(body: str, quotes: str) -> str:
    if not quotes.startswith('"""'):
        return body
    lines = body.split("\n")
    indentation = len(lines[-1])
    return re.sub(r"\\\n\s*", "", "\n".join(line[indentation:] for line in lines[1:-1]))


def literals(file: str, source: str) -> Iterator[Literal]:
    """Returns the string literals of a Swift file, without those inside of interpolations."""
    at = 0
    while (found := re.compile(r'//|/\*|#+"|"').search(source, at)) is not None:
        at = found.start()
        if found[0] == "//":
            at = source.find("\n", at) + 1 or len(source)
        elif found[0] == "/*":
            at = source.index("*/", at) + 2
        else:
            hashes = found[0].rstrip('"')
            begin = at + len(hashes)
            quotes = ('"""' if source.startswith('"""', begin) else '"') + hashes
            start = begin + len(quotes) - len(hashes)
            end = _end_of_literal(source, start, quotes, "\\" + hashes)
            text = _content(source[start : end - len(quotes)], quotes)
            if hashes:
                # Only "\\#(" begins an interpolation.
                text = text.replace("\\(", "( ").replace(f"\\{hashes}(", "\\(")
            types = _TYPE.findall(source, 0, at)
            line = source.count("\n", 0, at) + 1
            yield Literal(file, line, text, source[max(0, at - 400) : at], types[-1] if types else "")
            at = end


@cache
def all_literals() -> tuple[Literal, ...]:
    """Returns the string literals of Sources, without generated files, the sessions of PostgreSQL, whose texts are its own, and
    copies between the engines, whose texts are for one of them.
    """
    own = {ROOT / "Sources/Storage/Database" / folder for folder in ("PostgreSQL", "Transfer")}
    sources = (path for path in (ROOT / "Sources").rglob("*.swift") if own.isdisjoint(path.parents))
    paths = sorted(path for path in sources if not path.name.endswith(".pb.swift"))
    return tuple(literal for path in paths for literal in literals(str(path.relative_to(ROOT)), path.read_text()))


class _Names:
    """The constants that interpolations refer to."""

    def __init__(self):
        self.texts: dict[str, list[Literal]] = {}
        self.choices: dict[tuple[str, str], list[tuple[int, tuple[str, str]]]] = {}
        self.numbers: dict[str, list[tuple[str, str]]] = {}
        for literal in all_literals():
            if match := _NAMED.search(literal.before):
                self.texts.setdefault(match[1] or match[2], []).append(literal)
        for path in (ROOT / "Sources").rglob("*.swift"):
            if path.name.endswith(".pb.swift"):
                continue
            source = path.read_text()
            for match in _NUMBER.finditer(source):
                number = (match[2] or match[4]).replace("_", "")
                name = match[1] or f"{match[3]}.rawValue"
                self.numbers.setdefault(name, []).append((str(path.relative_to(ROOT)), number))
            for match in re.finditer(r"let (\w+) = ([^\n]*\?[^\n]*)", source):
                if choice := _CHOICE.fullmatch(match[2].strip()):
                    key = (str(path.relative_to(ROOT)), match[1])
                    line = source.count("\n", 0, match.start()) + 1
                    self.choices.setdefault(key, []).append((line, choice.groups()))

    def values(self, expression: str, user: Literal) -> list[tuple[str, Literal]] | None:
        """Returns the possible texts of an interpolation in `user`, each with the literal whose names it uses; `None` =
        unknown.
        """
        if match := _PERMIT.fullmatch(expression):
            return [(f"({match[1]} < {match[2]})", user)]
        if match := _PARAMETERS.fullmatch(expression):
            count, first = int(match[1]) if match[1].isdigit() else 3, int(match[2] or 1)
            return [(", ".join(f"${number}" for number in range(first, first + count)), user)]
        if match := _CHOICE.fullmatch(expression):
            return [(text, user) for text in match.groups()]
        name = expression.removesuffix(".rawValue").rpartition(".")[2]
        earlier = [choice for choice in self.choices.get((user.file, name), []) if choice[0] < user.line]
        if earlier and name == expression:
            return [(text, user) for text in earlier[-1][1]]
        if (number := self._number(expression, name, user)) is not None:
            return [(number, user)]
        return self._text(expression, name, user)

    def _number(self, expression: str, name: str, user: Literal) -> str | None:
        known = self.numbers.get(f"{name}.rawValue" if _RAW_VALUE.fullmatch(expression) else name, [])
        type_name = expression.removesuffix(".rawValue").rpartition(".")[0].rpartition(".")[2]
        if type_name in ("", "Self"):
            known = [number for number in known if number[0] == user.file]
        numbers = {number for _, number in known}
        return next(iter(numbers)) if len(numbers) == 1 else None

    def _text(self, expression: str, name: str, user: Literal) -> list[tuple[str, Literal]] | None:
        if not re.fullmatch(r"(\w+\.)?\w+", expression):
            return None
        type_name = expression.rpartition(".")[0]
        found = [literal for literal in self.texts.get(name, []) if literal is not user]
        if type_name in ("", "Self"):
            # The nearest definition in front of its use, or the only one of the type.
            same_file = [literal for literal in found if literal.file == user.file]
            earlier = [literal for literal in same_file if literal.line < user.line]
            members = [literal for literal in found if literal.is_member and literal.type == user.type]
            found = earlier[-1:] or [literal for literal in same_file if literal.is_member] or members
        else:
            found = [literal for literal in found if literal.type == type_name]
        return [(found[0].text, found[0])] if len(found) == 1 else None


@cache
def _names() -> _Names:
    return _Names()


def _interpolations(text: str) -> Iterator[tuple[str, str]]:
    """Returns the parts of a text: each with the interpolation that follows it; empty at the end."""
    at = 0
    while (start := text.find("\\(", at)) >= 0:
        end = _end_of_interpolation(text, start + 2)
        yield text[at:start], text[start + 2 : end - 1]
        at = end
    yield text[at:], ""


def variants(text: str, user: Literal, depth: int = 0) -> list[str]:
    """Returns the texts that a literal may have; interpolations that are known only at run time are left in them."""
    choices: list[list[str]] = []
    for part, expression in _interpolations(text):
        choices.append([part.replace('\\"', '"')])
        if not expression:
            continue
        values = _names().values(expression, user) if depth < 6 else None
        if values is None:
            choices.append([f"\\({expression})"])
        else:
            choices.append([text for value, by in values for text in variants(value, by, depth + 1)])
        if prod(map(len, choices)) > _MOST_VARIANTS:
            return [text]
    return ["".join(parts) for parts in product(*choices)]


@dataclass(frozen=True)
class Statement:
    """A statement in Sources, with one of its possible texts."""

    place: str
    text: str
    #: Whether it is the value of a constant, which may be used as a part of other statements only.
    is_constant: bool

    @property
    def is_complete(self) -> bool:
        return UNKNOWN.search(self.text) is None

    @property
    def pattern(self) -> re.Pattern:
        """The pattern of the texts that an incomplete statement may have at run time."""
        parts = [re.escape(part) for part, _ in _interpolations(self.text)]
        return re.compile(".*".join(parts), re.DOTALL)


@cache
def statements() -> tuple[Statement, ...]:
    """Returns all statements of Sources, without migrations."""
    found = []
    for literal in all_literals():
        if literal.migration is not None or literal.is_for_postgres:
            continue
        for text in variants(literal.text, literal) if _may_be_statement(literal.text) else []:
            if STATEMENT.match(text):
                found.append(Statement(literal.place, text, _NAMED.search(literal.before) is not None))
    return tuple(found)


def _may_be_statement(text: str) -> bool:
    return STATEMENT.match(text) is not None or text.lstrip().startswith("\\(")


@dataclass(frozen=True)
class Migration:
    name: str
    place: str
    sql: str
    #: The text for PostgreSQL; `None` = the schema of SQLite has its result.
    postgres: str | None = None


@cache
def migrations() -> tuple[Migration, ...]:
    """Returns all migrations of the program and its apps, in the order of their places in Sources."""
    found: list[Migration] = []
    for literal in all_literals():
        if (name := literal.migration) is not None:
            (sql,) = variants(literal.text, literal)
            if UNKNOWN.search(sql):
                raise ValueError(f"{literal.place}: the value of an interpolation is unknown")
            found.append(Migration(name, literal.place, sql))
        elif literal.is_for_postgres and not found[-1].sql:
            found[-1] = replace(found[-1], postgres=literal.text)
    return tuple(found)


def one_line(text: str) -> str:
    return " ".join(text.split())


def engine_reason(text: str) -> str | None:
    """Returns the reason why a statement belongs to SQLite; `None` if it does not."""
    return next((reason for form, reason in ENGINE.items() if re.match(form, one_line(text))), None)
