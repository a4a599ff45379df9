"""Who may do what by the console: roles, forged requests, pages of other origins and security headers."""

import functools
import http.server
import json
import threading
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from support.gateway import ADMIN_PASSWORD
from support.monitoring import metric
from support.parties import PASSWORD
from support.raw import fetch
from support.uploads import added, content

ASSETS = Path(__file__).resolve().parents[2] / "Sources/Console/Assets"
LIST_USERS = "archebase.auth.v1.UserAuthService/ListUsers"


def test_viewer_sees_only_what_the_role_allows(page, gateway, viewer, admin, fleet, uploader):
    wanted = added(admin, uploader, content(10))
    page.sign_in("system", viewer, PASSWORD)
    page.heading("Overview")
    page.open(f"http://{gateway.listeners['web']}/console/#/objects/{wanted.file_id}")
    page.heading(wanted.name)
    (site,) = [site.name for site in admin.admin("ListSites").sites if site.site_id == fleet.site_id]
    assert page.fact("Site") == site
    names = [button.text for button in page.driver.find_elements(By.CSS_SELECTOR, "main .actions button")]
    assert names == ["Download", "Share"]
    refusals = page.script(
        """
        const { call } = await import('/console/api.js')
        const refused = ([service, method]) => call(service, method, {}).then(() => 'accepted', (error) => error.message)
        return Promise.all(arguments[0].map(refused))
        """,
        [
            ["users", "ListUsers"],
            ["devices", "ListDevices"],
            ["management", "DeleteObject"],
            ["audit", "ListAuditLines"],
        ],
    )
    assert refusals == [
        "this call requires the role admin",
        "this call requires the role operator",
        "this call requires the role admin",
        "this call requires the role admin",
    ]


@pytest.fixture
def session(gateway) -> dict[str, str]:
    """The header fields that the console's scripts send in a session."""
    web = gateway.listeners["web"]
    body = json.dumps({"organization": "system", "userName": "admin", "password": ADMIN_PASSWORD})
    fields = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
    response = fetch(web, "POST", "/console/session", body.encode(), fields)
    assert response.status == 200, response.body
    cookie = response.headers["Set-Cookie"].split(";")[0]
    return fields | {"Cookie": cookie, "X-Console-Token": json.loads(response.body)["token"]}


def test_organization_with_all_sessions_does_not_lock_others_out(gateway_with, login, stubs):
    gateway = gateway_with({"console": {"enabled": True, "max_sessions": 8, "max_sessions_per_user": 2}})
    web, admin = gateway.listeners["web"], login(gateway)
    boss = admin.create_organization("greedy", display_name="Greedy")
    fields = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}

    def sign_in(organization: str, name: str, password: str) -> dict[str, str]:
        """Signs in and returns the header fields of the session."""
        body = json.dumps({"organization": organization, "userName": name, "password": password})
        response = fetch(web, "POST", "/console/session", body.encode(), fields)
        assert response.status == 200, response.body
        cookie = response.headers["Set-Cookie"].split(";")[0]
        return fields | {"Cookie": cookie, "X-Console-Token": json.loads(response.body)["token"]}

    def is_open(session: dict[str, str]) -> bool:
        return fetch(web, "GET", "/console/session", b"", session).status == 200

    for name in ("a", "b", "c", "d", "e"):
        boss.users("CreateUser", user_name=name, password=PASSWORD, role="viewer")
    greedy = [sign_in("greedy", name, PASSWORD) for name in ("a", "b", "c", "d") for _ in range(2)]
    assert all(is_open(session) for session in greedy)
    system = sign_in("system", "admin", ADMIN_PASSWORD)
    assert is_open(system)
    assert metric(gateway, "data_gateway_limits_reached_total", listener="all", limit="console_sessions") == 1
    # The organization's further sign-ins end its own sessions.
    greedy += [sign_in("greedy", name, PASSWORD) for name in ("e", "a")]
    assert is_open(system)
    assert sum(is_open(session) for session in greedy) == 7
    gateway.stop()


def test_forged_request_is_refused(gateway, session):
    web = gateway.listeners["web"]
    ask = lambda fields, target=f"/console/rpc/{LIST_USERS}": fetch(web, "POST", target, b"{}", fields).status
    without = lambda name: {key: value for key, value in session.items() if key != name}
    assert ask(session) == 200
    assert ask(without("Sec-Fetch-Site")) == 403
    for site in ("cross-site", "same-site", "none"):
        assert ask(session | {"Sec-Fetch-Site": site}) == 403
    assert ask(without("X-Console-Token")) == 403
    assert ask(session | {"X-Console-Token": "A" * 43}) == 403
    assert ask(without("Cookie")) == 401
    assert ask(session | {"Cookie": "__Host-console=" + "A" * 43}) == 401
    # The session opens the console only, not the gateway's own calls.
    assert ask(session, f"/{LIST_USERS}") == 401


def test_page_of_another_origin_cannot_use_the_session(console, gateway, viewer):
    """The other origin has the same host, so the browser sends even strict cookies; Sec-Fetch-Site causes the refusal."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(ASSETS))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    token = console.driver.execute_script("return localStorage.getItem('console-token')")
    cookie = console.driver.get_cookie("__Host-console")["value"]
    sign_in = json.dumps({"organization": "system", "userName": viewer, "password": PASSWORD})
    try:
        console.open(f"http://127.0.0.1:{server.server_port}/icon.svg")
        for path, mode, headers, body in (
            # This request needs no preflight; accepted, it would sign the browser in as another user.
            ("session", "no-cors", {}, sign_in),
            (f"rpc/{LIST_USERS}", "cors", {"X-Console-Token": token}, "{}"),
        ):
            response = console.script(
                """
                const [url, mode, headers, body] = arguments
                return (await fetch(url, { method: 'POST', body, credentials: 'include', mode, headers })).type
                """,
                f"http://{gateway.listeners['web']}/console/{path}",
                mode,
                headers,
                body,
            )
            assert "Failed to fetch" in response["error"]
        assert console.driver.get_cookie("__Host-console")["value"] == cookie
    finally:
        server.shutdown()
        server.server_close()
    console.driver.get_log("browser")  # The refusals are logged as errors.


def test_every_file_is_served_with_security_headers(gateway):
    web = gateway.listeners["web"]
    names = ["", *(path.name for path in ASSETS.iterdir() if path.name != "index.html")]
    scripts = sorted(name for name in names if name.endswith(".js"))
    links = "\n    ".join(f'<link rel="modulepreload" href="/console/{name}">' for name in scripts)
    page = (ASSETS / "index.html").read_text().replace("<!-- modules -->", links)
    for name in names:
        response = fetch(web, "GET", f"/console/{name}")
        assert response.status == 200, name
        assert response.body.decode() == (page if name == "" else (ASSETS / name).read_text()), name
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; "), name
        assert "unsafe" not in response.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "no-store"
    assert fetch(web, "GET", "/console").headers["Location"] == "/console/"
    assert fetch(web, "GET", "/console/missing").status == 404


def test_disabled_console_is_not_found(gateway_with):
    gateway = gateway_with({"console": {"enabled": False}})
    assert fetch(gateway.listeners["web"], "GET", "/console/").status == 404
    gateway.stop()
