"""Clients that have to be served during an attack: a device that uploads, and a user who lists."""

import time

from .gateway import Gateway
from .parties import Fleet, User
from .uploads import Upload, content

#: Small enough that the disk hardly affects the time, but with a real body.
SIZE = 64 * 1024


class Bystanders:
    """A device and a user of one gateway, signed in before the attack. Their calls come from 127.0.0.1."""

    def __init__(self, gateway: Gateway, user: User):
        self.gateway = gateway
        self.user = user
        self.device = Fleet.create(user).uploader()
        #: The duration of each call in seconds, in order.
        self.timings: list[float] = []
        self._data = content(SIZE)

    def serve(self, rounds: int = 3) -> None:
        """Uploads a file and lists, `rounds` times; raises the first failure."""
        for _ in range(rounds):
            upload = self._timed(lambda: Upload.create(self.device))
            self._timed(lambda: upload.put(self._data))
            self._timed(upload.complete)
            listed = self._timed(lambda: self.user.objects("ListObjects", page_size=10))
            assert listed.objects

    def serve_for(self, seconds: float) -> None:
        """Repeats this for a number of seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.serve(rounds=1)

    def reconnect(self) -> None:
        """Makes the next calls open new connections."""
        self.gateway.forget_channels()

    def percentile(self, share: float) -> float:
        """Returns a percentile of all durations, in milliseconds."""
        return 1000 * sorted(self.timings)[min(len(self.timings) - 1, int(len(self.timings) * share))]

    def _timed(self, call):
        start = time.monotonic()
        response = call()
        self.timings.append(time.monotonic() - start)
        return response
