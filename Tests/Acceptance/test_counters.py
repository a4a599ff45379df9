"""The costs of the ten calls, compared with `counters.txt`: numbers that do not depend on the machine's load."""

import pytest
from support import counter_table, counters, round_trips


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
        ((500, 5, 4, 50), (505, 5, 4, 52), False),
        ((500, 5, 4, 50), (495, 5, 4, 48), False),
        ((500, 5, 4, 50), (506, 5, 4, 50), True),
        ((500, 5, 4, 50), (494, 5, 4, 50), True),
        ((100, 5, 4, 50), (100, 4, 4, 50), True),
        ((100, 5, 4, 50), (100, 5, 3, 50), True),
        ((100, 5, 4, 50), (100, 6, 4, 50), True),
        ((100, 5, 4, 50), (100, 5, 4, 53), True),
        ((10, 0, 4, 2), (12, 0, 4, 4), False),
        ((10, 0, 4, 2), (12, 0, 4, 5), True),
    ],
)
def test_a_change_beyond_the_tolerance_is_named(old, new, is_change):
    costs = counter_table.Cost(*old), counter_table.Cost(*new)
    assert ("Check" in counter_table.changes(*({"Check": cost} for cost in costs))) == is_change


def test_a_call_that_only_one_table_has_is_named():
    cost = {"Check": counter_table.Cost(1, 2, 3, 4)}
    assert "not recorded" in counter_table.changes({}, cost)
    assert "not measured" in counter_table.changes(cost, {})


@pytest.mark.parametrize(
    "statements, trips",
    [
        ("", 0),
        ("BEGIN; SELECT 'key'; SELECT 'other'; COMMIT", 1),
        ("SELECT 'key'; SELECT 'key'", 1),
        ("BEGIN; SELECT 'key' → found; SELECT 'found'; COMMIT", 2),
        ("BEGIN; SELECT 'key' → key; SELECT 'key'; COMMIT", 1),
        ("BEGIN; SELECT 'key'; COMMIT; BEGIN; SELECT 'other'; COMMIT", 2),
        ("BEGIN IMMEDIATE; UPDATE 'key'; DELETE 'key'; COMMIT", 1),
        ("BEGIN IMMEDIATE; SELECT 'key'; UPDATE 'key'; DELETE 'key'; COMMIT", 2),
        ("BEGIN IMMEDIATE; INSERT 'a' → 7; INSERT 7; COMMIT", 2),
    ],
)
def test_round_trips_end_where_a_result_is_needed(statements, trips):
    records = []
    for statement in filter(None, statements.split("; ")):
        text, _, row = statement.partition(" → ")
        records += [("S", text), ("A", text)] + ([("R", f"{row}\x1f")] if row else [])
    assert round_trips.count(records) == trips
