"""The codes of an authenticator app (RFC 6238)."""

import base64
import hashlib
import hmac
import struct
import time


class App:
    """An authenticator app that knows the secret of one account."""

    def __init__(self, secret: str):
        self.key = base64.b32decode(secret + "=" * (-len(secret) % 8))

    def code(self, offset: int = 0) -> str:
        """Returns the code of the time step that is `offset` steps from now."""
        step = int(time.time()) // 30 + offset
        digest = hmac.new(self.key, struct.pack(">q", step), hashlib.sha1).digest()
        start = digest[-1] & 15
        return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 10**6:06d}"
