"""An unreliable network between a client and a gateway, with random cuts, delays and repetitions."""

import random
import threading
from dataclasses import dataclass

from .client import Network


@dataclass
class UnreliableNetwork:
    """While it is active, random events affect one of the proxies.

    Either all of its connections are cut, or nothing is passed on for a moment, or the bytes of its last connection
    are repeated.
    """

    network: Network
    chance: random.Random
    #: The longest time between two events in seconds.
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
