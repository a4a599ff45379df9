"""Parses curl lines that make REST calls, as in docs/integrators.md: the RPC of each, and its request."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

ROUTES = Path(__file__).resolve().parents[1] / "routes.txt"
#: A word of the shell, which may consist of quoted parts.
_WORD = r"(?:'[^']*'|\"[^\"]*\"|[^\s'\")|]+)+"
_LINE = re.compile(
    r"curl (?P<before>(?:-\S+ (?:(?!\"?\$)[A-Z]+ )?)*)\"?\$(?P<listener>[A-Z]+)(?P<url>/v1[^\s\"]*)\"?(?P<after>[^|]*)"
)
_OPTION = re.compile(rf"(?:^|\s)(-d|--data-urlencode|-X) ({_WORD})")
#: The characters around a variable of the shell in a request.
_BEGIN, _END = "\ue000", "\ue001"


@dataclass
class Call:
    """A REST call: `request` is its message in JSON, in which variables of the shell are between private-use characters."""

    listener: str
    #: E.g. `archebase.auth.v1.AdminAuthService/GetSite`.
    rpc: str
    request: dict

    @property
    def data(self) -> str:
        """Returns the request as one word of the shell."""
        text = json.dumps(self.request, ensure_ascii=False)
        return "'" + text.replace(_BEGIN, "'\"$").replace(_END, "\"'") + "'"


def parse(line: str) -> Call | None:
    """Returns the call of a line; `None` for a line without a REST call."""
    if not (found := _LINE.search(line)):
        return None
    options = _OPTION.findall(found["before"] + found["after"])
    bodies = [_text(word) for name, word in options if name == "-d"]
    methods = [word for name, word in options if name == "-X"]
    has_body = bool(bodies) and " -G" not in line
    # `-T FILE` sends a file.
    method = methods[0] if methods else "PUT" if " -T " in line else "POST" if has_body else "GET"
    path, _, query = _text(f'"{found["url"]}"').partition("?")
    rpc, request = _route(method, path)
    for pair in [*query.split("&")] * bool(query) + [
        _text(word) for name, word in options if name == "--data-urlencode"
    ]:
        name, _, value = pair.partition("=")
        _set(request, name, int(value) if value.isdigit() else value == "true" or unquote(value))
    if has_body:
        # A variable may also replace a number.
        quoted = re.sub(rf"(?<=[:\[] )({_BEGIN}\w+{_END})", r'"\1"', bodies[0])
        request |= json.loads(quoted)
    return Call(found["listener"], rpc, request)


def _text(word: str) -> str:
    """Returns a word after the shell's expansion, except for variables."""
    text = ""
    for single, double, bare in re.findall(r"'([^']*)'|\"([^\"]*)\"|([^'\"]+)", word):
        text += single or re.sub(r"\$\{?(\w+)\}?", rf"{_BEGIN}\1{_END}", double or bare)
    return text


def _set(request: dict, name: str, value) -> None:
    *outer, last = name.split(".")
    for each in outer:
        request = request.setdefault(each, {})
    request[last] = value


def _route(method: str, path: str) -> tuple[str, dict]:
    """Returns the RPC of a request, and the fields in its path."""
    for line in ROUTES.read_text().splitlines():
        verb, template, rpc = line.split()[:3]
        fields = {}

        def pattern(variable: re.Match, fields=fields) -> str:
            name, _, segments = variable[1].partition("=")
            fields[f"field{len(fields)}"] = name
            return f"(?P<field{len(fields) - 1}>{(segments or '*').replace('*', '[^/:]+')})"

        if verb == method and (found := re.fullmatch(re.sub(r"\{([^}]*)\}", pattern, template), path)):
            request: dict = {}
            for group, name in fields.items():
                _set(request, name, unquote(found[group]))
            return rpc, request
    raise ValueError(f"no route is {method} {path}")
