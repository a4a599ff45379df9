"""Heap allocations of an echo through the whole stack: a number that does not depend on the machine.

It detects each additional allocation of a call. If that is justified, or one was saved, the number changes with the
code.
"""

from support.echo import allocations_per_call

#: A debug build keeps values on the heap that an optimized build keeps on the stack.
EXPECTED = {"debug": 11, "release": 11}


def test_echo_allocates_exactly_the_recorded_number(binary, tmp_path):
    counted = allocations_per_call(binary.with_name("echo-server"), tmp_path / "count")
    # Timers of the connection add a few for each thousand calls.
    assert round(counted, 1) == EXPECTED[binary.parent.name]
