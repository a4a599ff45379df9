"""Heap allocations of an echo through the whole stack, counted: a number that does not depend on the machine.

Who adds one to every call finds out here. Where it is worth it, or one was saved, the number changes with the code.
"""

from support.echo import allocations_per_call

#: A debug build keeps on the heap what an optimized one has on the stack.
EXPECTED = {"debug": 11, "release": 11}


def test_an_echo_allocates_no_more_than_it_did(binary, tmp_path):
    counted = allocations_per_call(binary.with_name("echo-server"), tmp_path / "count")
    # Timers of the connection add some to a thousand calls.
    assert round(counted, 1) == EXPECTED[binary.parent.name]
