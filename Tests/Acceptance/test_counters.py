"""The costs of the ten calls, compared with `counters.txt`: numbers that do not depend on the machine's load."""

import pytest
from support import counter_table, counters


@pytest.fixture(scope="module")
def measured(binary, stubs) -> counter_table.Table:
    if objection := counters.objection():
        pytest.skip(f"no system call can be counted: {objection}")
    return counter_table.table(counter_table.measure(binary, stubs))


def test_the_ten_calls_cost_what_is_recorded(binary, measured):
    if binary.parent.name != "debug":
        pytest.skip("the recorded numbers are those of the debug build")
    if changes := counter_table.changes(counter_table.read(), measured):
        hint = (
            "`scripts/counters --explain CALL` shows what a call does, `scripts/counters --write` records the numbers."
        )
        pytest.fail(f"what is recorded → what was measured\n{changes}\n{hint}", pytrace=False)


def test_access_log_allocates_nothing(binary, stubs, measured):
    """Compared exactly, for calls whose allocations do not depend on anything random."""
    silent = counter_table.table(counter_table.measure(binary, stubs, log={"access": False}))
    for name in ("Check", "ExchangeCredential", "GetUploadRecovery"):
        assert measured[name].allocations == silent[name].allocations, name


@pytest.mark.parametrize(
    "old, new, is_change",
    [
        ((500, 5, 50), (505, 5, 52), False),
        ((500, 5, 50), (495, 5, 48), False),
        ((500, 5, 50), (506, 5, 50), True),
        ((500, 5, 50), (494, 5, 50), True),
        ((100, 5, 50), (100, 4, 50), True),
        ((100, 5, 50), (100, 6, 50), True),
        ((100, 5, 50), (100, 5, 53), True),
        ((10, 0, 2), (12, 0, 4), False),
        ((10, 0, 2), (12, 0, 5), True),
    ],
)
def test_a_change_beyond_the_tolerance_is_named(old, new, is_change):
    costs = counter_table.Cost(*old), counter_table.Cost(*new)
    assert ("Check" in counter_table.changes(*({"Check": cost} for cost in costs))) == is_change


def test_a_call_that_only_one_table_has_is_named():
    cost = {"Check": counter_table.Cost(1, 2, 3)}
    assert "not recorded" in counter_table.changes({}, cost)
    assert "not measured" in counter_table.changes(cost, {})
