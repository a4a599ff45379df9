"""The app for archives: libraries, their archives, the app's programs, and what the database has."""

import io
import json
import uuid
import zipfile
from pathlib import Path

from . import database
from .apps import App
from .commands import CommandLine
from .gateway import Gateway

OPEN_TO_ALL = {
    "listeners": {"apps": "127.0.0.1:0"},
    "apps": {"archive": {"enabled": True, "access": "anyone"}},
}
MEMBERS = {"listeners": {"apps": "127.0.0.1:0"}, "apps": {"archive": {"enabled": True, "organization": "kvasir"}}}
DOCUMENTS = ("books", "creators", "tags", "digests")
TABLES = (
    "library_books",
    "library_creators",
    "library_tags",
    "library_digests",
    "library_authorship",
    "library_tagging",
)
TIME = "2019-06-09T14:51:29.574Z"


def identifier(number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number))).upper()


def common(number: int, updated: str = TIME) -> dict:
    return {"id": identifier(number), "serverId": "", "createdAt": TIME, "updatedAt": updated}


def book(number: int, name: str, digests=(), authors=(), translators=()) -> dict:
    return common(number) | {
        "isbn13": "9787020002207",
        "isbn10": "7020002200",
        "name": name,
        "localeName": "",
        "summary": "开卷有益",
        "publisher": "人民文学出版社",
        "imageLarge": "https://img.example/l.jpg",
        "imageMedium": "https://img.example/m.jpg",
        "authors": list(authors),
        "translators": list(translators),
        "digestIds": list(digests),
    }


def tiny(one: dict) -> dict:
    return {"id": one["id"], "isbn13": one["isbn13"], "isbn10": one["isbn10"], "bookName": one["name"]}


def creator(number: int, name: str, written=(), translated=()) -> dict:
    return common(number) | {
        "name": name,
        "localeName": "",
        "writtenBooks": [tiny(one) for one in written],
        "translatedBooks": [tiny(one) for one in translated],
    }


def tag(number: int, name: str, digests=()) -> dict:
    return common(number) | {"name": name, "color": "#3b6ea5", "digestIds": list(digests)}


def digest(number: int, content: str, category: int = 0, of=None, tags=(), updated: str = TIME) -> dict:
    return (
        common(number, updated)
        | {"content": content, "pageIndex": number % 500, "category": category}
        | ({"book": tiny(of)} if of else {})
        | {"tags": [{"id": one["id"], "name": one["name"], "color": one["color"]} for one in tags]}
    )


def library() -> dict[str, list[dict]]:
    """Returns a library by the rules of the app, in which each relation is in the documents of both sides."""
    sentences = [identifier(number) for number in (100, 101)]
    dream = book(1, "红楼梦", sentences, ["曹雪芹", "高鹗"])
    ulysses = book(2, "Ulysses", [identifier(102)], ["James Joyce"], ["萧乾"])
    alone = book(3, '"quoted" \\ 😀\n')
    creators = [
        creator(10, "曹雪芹", [dream]),
        creator(11, "高鹗", [dream]),
        creator(12, "James Joyce", [ulysses]),
        creator(13, "萧乾", translated=[ulysses]),
        creator(14, "nobody"),
    ]
    red, blue = tag(20, "红", sentences), tag(21, "蓝", [identifier(102), sentences[0]])
    digests = [
        digest(100, "满纸荒唐言，一把辛酸泪", 0, dream, [red, blue]),
        digest(101, "都云作者痴，谁解其中味", 0, dream, [red]),
        digest(102, "Stately, plump Buck Mulligan", 1, ulysses, [blue]),
        digest(103, "of no book"),
    ]
    return {
        "books": [dream, ulysses, alone],
        "creators": creators,
        "tags": [red, blue, tag(22, "空")],
        "digests": digests,
    }


def archive(documents: dict, method: int = zipfile.ZIP_DEFLATED, **options) -> bytes:
    """Returns a zip archive of documents; a document that is a text or bytes is written as it is."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", method, **options) as made:
        for name, content in documents.items():
            text = content if isinstance(content, str | bytes) else json.dumps({name: content}, ensure_ascii=False)
            made.writestr(f"{name}.json", text)
    return output.getvalue()


def unpacked(data: bytes) -> dict[str, list[dict]]:
    """Returns the documents of an archive; lists without a meaning of their order are sorted."""
    documents = {}
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        assert made.testzip() is None
        assert sorted(made.namelist()) == sorted(f"{name}.json" for name in DOCUMENTS)
        for name in DOCUMENTS:
            content = json.loads(made.read(f"{name}.json"))
            assert list(content) == [name]
            documents[name] = content[name]
    return sorted_lists(documents)


def sorted_lists(documents: dict) -> dict:
    def each(value):
        if isinstance(value, dict):
            return {name: each(member) for name, member in value.items()}
        if isinstance(value, list):
            return sorted((each(element) for element in value), key=lambda one: json.dumps(one, sort_keys=True))
        return value

    return {name: each(records) for name, records in documents.items()}


class Phone(App):
    """A program that keeps the cookie of its member."""

    cookie: str | None = None

    def raw(self, method: str, path: str, body: bytes | None = None, **fields: str):
        response = self.send(method, path, body, **({"cookie": self.cookie} if self.cookie else {}), **fields)
        return response.status, response.fields, response.body

    def take(self, data: bytes) -> tuple[int, dict]:
        """Imports an archive, and returns the status and the JSON."""
        status, _, body = self.raw("POST", "/import", data, content_type="application/octet-stream")
        return status, json.loads(body)

    def export(self) -> bytes:
        status, fields, body = self.raw("GET", "/export")
        assert status == 200, body
        assert fields["content-type"] == "application/zip"
        return body

    def sign_in(self, name: str, password: str) -> int:
        body = json.dumps({"name": name, "password": password}).encode()
        status, fields, _ = self.raw("POST", "/session", body, content_type="application/json")
        if status == 204:
            self.cookie = fields["set-cookie"].split(";")[0]
        return status

    def status(self) -> str:
        return json.loads(self.raw("GET", "/status")[2])["status"]


def rows(gateway: Gateway) -> list:
    """Returns everything that the tables have of the libraries that somebody reads."""
    found = []
    with database.reading(gateway) as opened:
        for table in TABLES:
            names = ", ".join(f"t.{name}" for name in database.columns(gateway, table) if name != "library")
            query = (
                f"SELECT l.owner, {names} FROM {table} t JOIN libraries l ON l.id = t.library "
                "WHERE l.is_current = 1 AND l.owner IS NOT NULL"
            )
            found.append(sorted(opened.execute(query).fetchall(), key=repr))
    return found


def left(gateway: Gateway) -> list:
    """Returns the libraries that nobody reads: those that are not current, and those of deleted accounts."""
    return database.rows(gateway, "SELECT id FROM libraries WHERE is_current = 0 OR owner IS NULL")


def count_rows(gateway: Gateway) -> int:
    """Returns the number of rows of all libraries."""
    return sum(database.rows(gateway, f"SELECT count(*) FROM {table}")[0][0] for table in ("libraries", *TABLES))


def open_deleted_files(gateway: Gateway) -> list[str]:
    """Returns the files of the process without a name in the data directory."""
    names = []
    for link in Path(f"/proc/{gateway.process.pid}/fd").iterdir():
        try:
            target = str(link.readlink())
        except OSError:
            continue
        if target.startswith(str(gateway.data)) and target.endswith("(deleted)"):
            names.append(target)
    return names


def search(phone: Phone, keyword: str, kind: str = "sentence", page: int = 0) -> dict:
    from urllib.parse import urlencode

    status, _, body = phone.raw("GET", "/search?" + urlencode({"keyword": keyword, "type": kind, "page": page}))
    assert status == 200, body
    return json.loads(body)


def create_member(operator: CommandLine, name: str) -> None:
    created = ("user", "create", name, "--role", "member", "--organization", "kvasir", "--password-stdin")
    operator.json(*created, input=f"{name}'s password\n")


def start_with_members(binary, gateway_with, folder: Path) -> Gateway:
    """Starts a gateway with the members ada and bob; the folder is for the operator."""
    gateway = gateway_with(MEMBERS)
    operator = CommandLine(binary, gateway, folder)
    operator.login()
    for name in ("ada", "bob"):
        create_member(operator, name)
    return gateway


def member(gateway: Gateway, name: str) -> Phone:
    phone = Phone(gateway)
    assert phone.sign_in(name, f"{name}'s password") == 204
    return phone
