"""An unreliable network: cuts, delays and repetitions, drawn by lot, between a client and a gateway."""

import random
import threading
from dataclasses import dataclass

from .client import Network


@dataclass
class UnreliableNetwork:
    """While it is entered, something happens to one of the proxies every now and then.

    All of its connections are cut, or nothing passes for a moment, or what its last connection sent comes again.
    """

    network: Network
    chance: random.Random
    #: Seconds from one event to the next, at most.
    interval: float = 0.4
    cuts: int = 0
    delays: int = 0
    repeats: int = 0

    def __enter__(self) -> "UnreliableNetwork":
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._disturb)
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        self._thread.join()

    def _disturb(self) -> None:
        proxies = [self.network.auth, self.network.rpc, self.network.store, self.network.store]
        while not self._ended.wait(self.chance.uniform(0, self.interval)):
            proxy, event = self.chance.choice(proxies), self.chance.choice(("cut", "delay", "repeat"))
            if event == "cut":
                self.cuts += 1
                proxy.cut()
            elif event == "delay":
                self.delays += 1
                proxy.pause()
                self._ended.wait(self.chance.uniform(0, self.interval))
                proxy.resume()
            elif proxy.repeat():
                self.repeats += 1
