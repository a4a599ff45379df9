"""Checks of schemathesis for the rules of requests, with the rules that an OpenAPI document cannot state.

schemathesis loads this module into its own process (SCHEMATHESIS_HOOKS).
"""

import re

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

#: The refusals of requests that agree with the document: patterns for the response, with the reason.
REFUSED = {
    '"status":"FAILED_PRECONDITION"': "the state of the data, such as the last admin of an organization",
    "page_token was not issued for this": "the gateway makes and signs page tokens",
    "must hold (states of copy items|kinds of actors|causes of failed uploads), not 0": "the schema of an enum has every value, also the unspecified one",
    r"order_by must be|filter: byte \d+": "an order and a filter have a grammar",
    "time_zone must be empty or a name of the time zone database": "the machine's package tzdata has the names",
    "either file_ids or filter must be set|must not both be set": "fields that exclude each other",
    "exactly one of devices, suite, site_id and all must be set": "fields that exclude each other",
    "must not be empty, unless|must be empty unless": "whether a field may be set depends on another one",
    "must be in the future": "limits that move with the time",
    "must contain certificates in the PEM format": "certificates, whose bytes no pattern describes",
    "must be a host name or an IP address": "names and addresses, of which a pattern describes only the characters",
    r"destination\.\w+ must be empty|destination must be listed": "the configuration of the gateway decides which fields may be set",
    r"must be (at most )?(\d+ to )?\d+ bytes": "lengths are limited in bytes, and JSON Schema counts characters",
    r"file_size_bytes must be 0 to \d+|file_size must be at least 0": "an integer of 64 bits is a text, which has no bounds",
    ": the field is unknown, at byte": "a message that is also in responses may get more members in later versions",
    "control characters|characters that a file name can have": "classes of characters of Unicode, which patterns lack",
    r"must not contain the character U\+0000": "the rule of all texts, which the document does not repeat at each",
    r"must have 1 to \d+ entries": "the list may be empty if a filter is set",
}

#: The requests that are accepted although they break the document, with the reason.
ACCEPTED = {
    "null": "a member that is null is the same as one that is not sent (ProtoJSON)",
    "number": "an enum, and an integer of 64 bits, may be sent as a number (ProtoJSON)",
    "password": "lengths are limited in bytes: a password of 8 bytes may have fewer characters",
}
_WRONG_TYPE = re.compile(r"in (body|query) - (.+?): Incorrect type|violates `type` at ")
_SHORT_PASSWORD = re.compile(r"violates `minLength` at /properties/\w*[pP]assword ")


def _is_refusal_listed(response) -> bool:
    return any(re.search(pattern, response.text) for pattern in REFUSED)


def _is_acceptance_listed(case, failure) -> bool:
    return _accepted(case, failure.message) in ACCEPTED


def _accepted(case, message: str) -> str:
    """Returns the key in `ACCEPTED` of a failure; an empty text for others."""
    if _SHORT_PASSWORD.search(message):
        return "password"
    wrong = _WRONG_TYPE.search(message)
    if not wrong:
        return ""
    if _contains_null(case.body):
        return "null"
    place, path = wrong.groups()
    if path is None:
        return ""
    value = _parameter(case, path) if place == "query" else _member(case.body, path.split(" -> "))
    return "number" if type(value) is int else ""


def _contains_null(value) -> bool:
    """Returns whether the value, or one in it, is null."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(_contains_null(each) for each in inner)


def _parameter(case, name: str):
    """Returns a parameter of the query, as a number if it consists of digits."""
    text = str((case.query or {}).get(name, ""))
    return int(text) if text.isdigit() else text


def _member(container, path: list[str]):
    """Returns the value at the path in a body; an empty text if it is not there."""
    for name in path:
        if isinstance(container, list) and name.isdigit() and int(name) < len(container):
            container = container[int(name)]
        elif isinstance(container, dict) and name in container:
            container = container[name]
        else:
            return ""
    return container


@schemathesis.check
def valid_data_is_accepted(ctx, response, case):
    """Like positive_data_acceptance, without the refusals in the table."""
    try:
        return positive_data_acceptance(ctx, response, case)
    except Failure:
        if _is_refusal_listed(response):
            return None
        raise


@schemathesis.check
def wrong_data_is_refused(ctx, response, case):
    """Like negative_data_rejection, without the requests in the table."""
    try:
        return negative_data_rejection(ctx, response, case)
    except Failure as failure:
        if _is_acceptance_listed(case, failure):
            return None
        raise
