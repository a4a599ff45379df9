"""How long helpers wait for what must happen: a stalled machine needs much of it, and a success costs nothing."""

#: In seconds.
WAIT_SECONDS = 120
