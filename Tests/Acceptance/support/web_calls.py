"""Makes the same call by REST and by Connect, on one connection to the web listener."""

import http.client
import json
from collections.abc import Callable

from support.gateway import Gateway
from support.parties import Fleet, User
from support.uploads import completed, content

GET_OBJECT = "/archebase.data_gateway.v1.ObjectManagementService/GetObject"


class WebCalls:
    """Calls GetObject for one small object, with either protocol."""

    def __init__(self, gateway: Gateway, user: User):
        upload = completed(Fleet.create(user).uploader(), content(1000))
        self.file_id = upload.complete().file_id
        self._authorization = {"Authorization": f"Bearer {user.token}"}
        self._connection = http.client.HTTPConnection(gateway.listeners["web"], timeout=60)

    def kinds(self) -> dict[str, Callable[[], bytes]]:
        return {"connect": self._connect, "rest": self._rest}

    def _connect(self) -> bytes:
        fields = self._authorization | {"Content-Type": "application/json"}
        return self._respond("POST", GET_OBJECT, json.dumps({"fileId": self.file_id}), fields)

    def _rest(self) -> bytes:
        return self._respond("GET", f"/v1/objects/{self.file_id}", None, self._authorization)

    def _respond(self, method: str, path: str, body: str | None, fields: dict[str, str]) -> bytes:
        self._connection.request(method, path, body, fields)
        reply = self._connection.getresponse()
        text = reply.read()
        assert reply.status == 200, text
        return text
