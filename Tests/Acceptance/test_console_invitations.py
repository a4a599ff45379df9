"""Invites a colleague in the console, who joins by the link, in headless Chromium."""

from support.gateway import ADMIN_PASSWORD
from support.parties import PASSWORD, User, call, unique
from support.totp import App

OWN = "the password of the invited"


def link(page) -> str:
    return page.find("//dialog[@open]//textarea").get_attribute("value")


def invite(gateway, stubs, boss: User, name: str, role: str = "viewer") -> str:
    """Returns the console's address of a new invitation."""
    stub = stubs.auth.InvitationManagementServiceStub(gateway.channel("admin"))
    request = stubs.auth.CreateInvitationRequest(user_name=name, role=role)
    token = call(stub.CreateInvitation, request, boss.token).token
    return f"http://{gateway.listeners['web']}/console/#/invitation/{token}"


def test_colleague_joins_by_the_link_with_a_second_factor(console, gateway, stubs, look):
    page, name = console, unique("nora")
    page.go("Users")
    # Four of the six steps of the inviter; the role is the fifth, and closing the last.
    page.press("Invite")
    page.fill("User name", name)
    page.choose("Role", "operator: also manages devices and keys")
    page.press("Create link")
    address = link(page)
    assert address.startswith(f"http://{gateway.listeners['web']}/console/#/invitation/dgwi_")
    look("dialog-invitation")
    page.press("Copy")
    page.find("//dialog//*[@role='status'][.='Copied.']")
    page.press("Close")
    page.find(f"//h2[.='Open invitations']/following::td[normalize-space()='{name}']")
    look("users-invitations")

    # In this browser somebody is signed in.
    page.open(address)
    page.driver.refresh()
    page.heading("Invitation")
    assert "You are signed in to system as admin." in page.alert()
    look("invitation-signed-in")
    page.press("Sign out")

    page.heading("Join system")
    assert "admin invites you to the organization system, with the role operator." in page.text
    look("invitation")
    page.fill("Password", OWN)
    page.fill("Repeat password", OWN + "!")
    page.press("Join")
    assert page.alert() == "The passwords differ."
    page.fill("Repeat password", OWN)
    page.press("Join")
    page.dialog("Scan the code with your authenticator app")
    assert "invitation" not in page.driver.current_url
    page.fill("Code", App(page.field("Secret").get_attribute("value")).code())
    page.press("Turn on")
    page.dialog("Recovery codes")
    page.press("Close")
    page.until(lambda: page.fact("Second factor") == "on 10 recovery codes left")
    assert page.fact("User") == name
    page.press("Sign out")

    page.open(address)
    page.driver.refresh()
    assert page.alert().startswith("the invitation is not valid: it was used or withdrawn, or has expired")
    look("invitation-ended")
    page.press("Sign in")
    page.sign_in("system", "admin", ADMIN_PASSWORD)
    page.go("Users")
    assert page.row("User", name)["Second factor"] == "on"
    assert page.row("User", "admin")["Second factor"] == "off"


def test_invited_person_may_leave_the_second_factor(page, gateway, stubs, new_organization):
    boss = new_organization()
    page.open(invite(gateway, stubs, boss, "nora"))
    page.heading(f"Join {boss.organization}")
    page.fill("Password", OWN)
    page.fill("Repeat password", OWN)
    page.field("Set up a second factor").click()
    page.press("Join")
    page.heading("Overview")
    assert page.account().get_attribute("title") == f"{boss.organization}/nora"
    User.login(gateway, stubs, boss.organization, "nora", OWN)


def test_required_second_factor_is_set_up_after_joining(page, gateway, stubs, new_organization):
    boss = new_organization()
    address = invite(gateway, stubs, boss, "nora")
    secret = call(
        stubs.auth.AccountServiceStub(gateway.channel("auth")).EnrollSecondFactor,
        stubs.auth.EnrollSecondFactorRequest(password=PASSWORD),
        boss.token,
    ).secret
    request = stubs.auth.ConfirmSecondFactorRequest(code=App(secret).code())
    call(stubs.auth.AccountServiceStub(gateway.channel("auth")).ConfirmSecondFactor, request, boss.token)
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.fill("Code", App(secret).code(+1))
    page.press("Continue")
    page.go("Users")
    page.find("//p[contains(., 'A second factor is each user’s own choice.')]")
    page.press("Require a second factor")
    page.press("Save")
    page.find("//p[contains(., 'Every user of the organization needs a second factor.')]")
    page.press("Sign out")

    page.open(address)
    page.driver.refresh()
    page.find("//p[contains(., 'The organization requires a second factor')]")
    page.fill("Password", OWN)
    page.fill("Repeat password", OWN)
    page.press("Join")
    page.dialog("Scan the code with your authenticator app")
    page.press("Cancel")
    assert "Your organization requires a second factor." in page.alert()
    states = {user.user_name: user.second_factor for user in boss.users("ListUsers").users}
    assert states == {"boss": stubs.auth.SECOND_FACTOR_STATE_ON, "nora": stubs.auth.SECOND_FACTOR_STATE_MISSING}


def test_invitation_is_withdrawn(console, gateway, stubs, admin):
    name = unique("nora")
    address = invite(gateway, stubs, admin, name)
    console.go("Users")
    console.press_in_row(name, "Withdraw")
    assert "The link stops working" in console.dialog(f"Withdraw the invitation of “{name}”?")
    console.press("Withdraw")
    console.notice(f"The invitation of “{name}” was withdrawn.")
    console.press("Sign out")
    console.heading("data-gateway")
    console.open(address)
    assert console.alert().startswith("the invitation is not valid")
