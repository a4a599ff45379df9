"""The app for archives: its page in headless Chromium, the requests of pages, and the library that this machine shares."""

import http.server
import json
import subprocess
import threading
from pathlib import Path

import pytest
from support import described_calls
from support.browser import Browser
from support.gateway import Gateway
from support.library_archive import (
    DOCUMENTS,
    OPEN_TO_ALL,
    Phone,
    archive,
    library,
    sorted_lists,
    start_with_members,
    unpacked,
)


@pytest.fixture(scope="module")
def shared(gateway_with) -> Gateway:
    """A gateway with one library, which everybody on this machine uses."""
    return gateway_with(OPEN_TO_ALL)


@pytest.fixture
def phone(shared) -> Phone:
    return Phone(shared)


@pytest.fixture(scope="module")
def members(binary, gateway_with, tmp_path_factory) -> Gateway:
    return start_with_members(binary, gateway_with, tmp_path_factory.mktemp("operator"))


def test_shared_library_is_for_this_machine_only(binary, phone, tmp_path):
    assert phone.raw("GET", "/status", x_forwarded_for="203.0.113.7")[0] == 401
    assert phone.raw("DELETE", "/account")[0] == 401
    configuration = tmp_path / "config"
    configuration.write_text(json.dumps(OPEN_TO_ALL | {"listeners": {"apps": "0.0.0.0:0"}}))
    done = subprocess.run([binary, "config", "check", "--config", configuration], capture_output=True, text=True)
    assert done.returncode != 0
    assert "apps.archive.access" in done.stderr and "can be anyone only if listeners.apps is a loopback" in done.stderr


def test_shared_library_is_used_by_names_of_this_machine_only(phone, gateway_with):
    """A page whose name was led to this machine after it was loaded sends its own name."""
    port = phone.gateway.listeners["apps"].rsplit(":", 1)[1]
    for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "books.localhost"):
        assert phone.raw("GET", "/status", host=host)[0] == 200, host
    for host in (f"evil.example:{port}", "192.0.2.1", f"localhost.evil.example:{port}"):
        for method, path in (("GET", "/export"), ("POST", "/import"), ("GET", "/status"), ("GET", "/search?keyword=a")):
            status, _, body = phone.raw(method, path, host=host)
            assert status == 500 and "the host name" in json.loads(body)["message"], (host, path, body)
    assert "apps.archive.host_names" in json.loads(body)["message"]
    changed = json.loads(json.dumps(OPEN_TO_ALL))
    changed["apps"]["archive"]["host_names"] = "evil.example, books.test"
    assert Phone(gateway_with(changed)).raw("GET", "/status", host="Books.test:80")[0] == 200


# The page and its requests


def test_page_has_its_policy_and_ranges(phone):
    status, fields, body = phone.raw("GET", "/")
    assert status == 200 and fields["content-type"] == "text/html; charset=utf-8"
    assert fields["cache-control"] == "max-age=3600" and fields["accept-ranges"] == "bytes"
    assert fields["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in fields["content-security-policy"]
    text = body.decode()
    assert "<title>语斋 - 数据处理</title>" in text and ">导出<" in text and ">导入<" in text
    assert phone.raw("GET", "/index.html")[2] == body
    head = phone.raw("HEAD", "/")
    assert (head[0], head[1]["content-length"], head[2]) == (200, str(len(body)), b"")
    for name in ("archive.js", "archive.css", "icon.svg"):
        assert phone.raw("GET", f"/assets/{name}")[0] == 200
        assert f"/assets/{name}" in text
    for wanted, expected in {"bytes=0-9": body[:10], "bytes=10-": body[10:], "bytes=-5": body[-5:]}.items():
        status, fields, part = phone.raw("GET", "/index.html", range=wanted)
        assert (status, part) == (206, expected)
        assert fields["content-range"].endswith(f"/{len(body)}")
    status, fields, part = phone.raw("GET", "/", range=f"bytes={len(body)}-")
    assert (status, fields["content-range"], part) == (416, f"bytes */{len(body)}", b"")
    for ignored in ("bytes=0-1,3-4", "lines=1-2", "bytes=5-1"):
        assert phone.raw("GET", "/", range=ignored)[0] == 200
    assert phone.raw("GET", "/", range="bytes=0-9", if_range='"x"')[0] == 200
    status, _, body = phone.raw("GET", "/assets/other.js")
    assert (status, json.loads(body)) == (404, {"message": "the page has no file other.js"})


def test_options_is_200_with_the_permissions_of_allowed_origins(gateway_with):
    app = dict(OPEN_TO_ALL["apps"], cors_origins=["http://page.example"])
    phone = Phone(gateway_with(OPEN_TO_ALL | {"apps": app}))
    status, fields, body = phone.raw("OPTIONS", "/import")
    assert (status, body, fields["allow"]) == (200, b"", "POST, OPTIONS")
    preflight = {"access_control_request_method": "POST", "access_control_request_headers": "content-type"}
    status, fields, body = phone.raw("OPTIONS", "/import", origin="http://page.example", **preflight)
    assert (status, body) == (200, b"")
    assert fields["access-control-allow-origin"] == "http://page.example"
    assert "content-type" in fields["access-control-allow-headers"]
    assert "POST" in fields["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in fields
    status, fields, _ = phone.raw("OPTIONS", "/import", origin="http://other.example", **preflight)
    assert status == 200 and "access-control-allow-origin" not in fields
    # A page that asks for no permission gets none: the browser sends no preflight request for these.
    for kind in ("text/plain", "multipart/form-data; boundary=x"):
        status, _, body = phone.raw(
            "POST", "/import", archive(library()), content_type=kind, origin="http://other.example"
        )
        assert status == 500 and "application/json" in json.loads(body)["message"]
    assert unpacked(phone.export()) == {name: [] for name in DOCUMENTS}


def test_description_of_the_requests_is_true(phone, gateway_with, tmp_path, is_full):
    """The OpenAPI document has the media types, the responses without content, and the failures; schemathesis agrees."""
    document = phone.get("/openapi.json").json["paths"]
    responses = {
        (path, method): {
            status: list(response.get("content", {})) for status, response in operation["responses"].items()
        }
        for path, item in document.items()
        for method, operation in item.items()
    }
    for path in ("/", "/index.html"):
        assert responses[path, "get"]["200"] == responses[path, "get"]["206"] == ["text/html"]
        assert responses[path, "get"]["416"] == []
    assert responses["/assets/{name}", "get"]["200"] == ["text/css", "text/javascript", "image/svg+xml"]
    empty_failures = {"401": [], "500": []}  # References, whose shape the validator of the document knows.
    assert responses["/export", "get"] == {"200": ["application/zip"]} | empty_failures
    assert responses["/import", "post"] == {"200": ["application/json"]} | empty_failures
    for call in (("/session", "post"), ("/session", "delete"), ("/account", "delete")):
        assert responses[call] == {"204": []} | empty_failures
    for path, media in {
        "/": "text/html",
        "/assets/archive.css": "text/css",
        "/assets/archive.js": "text/javascript",
        "/assets/icon.svg": "image/svg+xml",
        "/export": "application/zip",
    }.items():
        status, fields, _ = phone.raw("GET", path)
        assert status == 200 and fields["content-type"].split(";")[0] == media
    status, fields, body = phone.raw("DELETE", "/session")
    assert (status, body) == (204, b"") and "content-type" not in fields
    gateway = gateway_with(OPEN_TO_ALL)
    described_calls.check(
        f"http://{gateway.listeners['apps']}", tmp_path, is_full, is_failure_described=True, but=("/account",)
    )
    assert unpacked(Phone(gateway).export())["books"] == []


def test_every_failure_but_401_is_500_with_a_message(phone):
    for method, path, body in [
        ("GET", "/import", None),
        ("POST", "/export", b"{}"),
        ("POST", "/session", b"{"),
        ("POST", "/session", b"[]"),
        ("POST", "/import", b"x"),
    ]:
        status, _, content = phone.raw(method, path, body, content_type="application/json")
        assert status == 500 and list(json.loads(content)) == ["message"], (method, path, content)
    status, _, content = phone.raw("POST", "/session", b'{"name":"x","password":"y"}', content_type="application/json")
    assert (status, json.loads(content)) == (401, {"message": "用户名或密码错误"})


# The page in the browser


def choose(browser: Browser, path: Path) -> None:
    browser.driver.find_element("id", "file").send_keys(str(path))


def alert(browser: Browser) -> str:
    """Returns the text of the alert, and closes it."""
    from selenium.webdriver.support import expected_conditions
    from selenium.webdriver.support.ui import WebDriverWait

    shown = WebDriverWait(browser.driver, 30).until(expected_conditions.alert_is_present())
    text = shown.text
    shown.accept()
    return text


def test_page_imports_exports_and_searches(browser, members, tmp_path):
    browser.open(f"http://{members.listeners['apps']}/")
    assert browser.driver.title == "语斋 - 数据处理"
    browser.fill("用户名", "bob")
    browser.fill("密码", "wrong")
    browser.press("登录")
    assert alert(browser) == "用户名或密码错误"
    browser.fill("密码", "bob's password")
    browser.press("登录")
    browser.find("//button[text()='导出']")

    (tmp_path / "good.zip").write_bytes(archive(library()))
    choose(browser, tmp_path / "good.zip")
    browser.find("//*[@id='notice'][text()='导入完成']")
    browser.press("导出")
    assert unpacked(browser.downloaded("backup.zip")) == sorted_lists(library())
    browser.find("//*[@id='notice'][text()='导出完成']")
    (tmp_path / "broken.zip").write_bytes(archive(library())[:-30])
    choose(browser, tmp_path / "broken.zip")
    assert alert(browser) == "导入失败: 文件不完整，或者不是 zip 备份"

    browser.fill("关键字", "作者")
    browser.press("搜索")
    browser.find("//li[mark='作者'][contains(., '都云作者痴')]/cite[text()='红楼梦']")
    browser.click("//summary[text()='修改密码']")
    for label, text in (("账号", "bob"), ("当前密码", "bob's password"), ("新密码", "another password")):
        browser.fill(label, text)
    browser.press("修改")
    browser.find("//*[@id='notice'][text()='密码已修改']")
    assert Phone(members).sign_in("bob", "another password") == 204
    assert not browser.violations()
    browser.press("退出")
    browser.find("//label[text()='用户名']")
    assert [line for line in browser.logged_errors if "Content Security Policy" in line] == []


#: The requests of the page that the app's published server has, as functions of a page of another origin.
OTHER_PAGE = """<!doctype html><meta charset="utf-8"><title>test</title><script>
const host = new URLSearchParams(location.search).get('host')
async function exported() {
  const response = await fetch(`${host}export`, { method: 'get' })
  const bytes = new Uint8Array(await (await response.blob()).arrayBuffer())
  return { status: response.status, bytes: btoa(String.fromCharCode(...bytes)) }
}
async function imported(text) {
  const data = new Blob([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))])
  const options = { method: 'post', body: data, mode: 'cors', headers: { 'Content-Type': 'application/octet-stream' } }
  const response = await fetch(`${host}import`, options)
  return { status: response.status, json: await response.json() }
}
</script>"""


def test_page_of_another_port_imports_and_exports_if_allowed(browser, gateway_with):
    import base64

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = OTHER_PAGE.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    try:
        app = dict(OPEN_TO_ALL["apps"], cors_origins=[origin])
        allowed, other = gateway_with(OPEN_TO_ALL | {"apps": app}), gateway_with(OPEN_TO_ALL)
        text = base64.b64encode(archive(library())).decode()
        for gateway in (allowed, other):
            browser.open(f"{origin}/?host=http://{gateway.listeners['apps']}/")
            taken = browser.script("return await imported(arguments[0])", text)
            sent = browser.script("return await exported()")
            if gateway is other:
                assert "TypeError" in taken["error"] and "TypeError" in sent["error"]
                assert unpacked(Phone(other).export()) == {name: [] for name in DOCUMENTS}
                continue
            assert taken == {"status": 200, "json": {"ok": True}}
            assert sent["status"] == 200
            assert unpacked(base64.b64decode(sent["bytes"])) == sorted_lists(library())
            broken = browser.script("return await imported(arguments[0])", base64.b64encode(b"no zip").decode())
            assert broken["status"] == 500 and broken["json"]["message"].startswith("导入失败")
    finally:
        server.shutdown()
