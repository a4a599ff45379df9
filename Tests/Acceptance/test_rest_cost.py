"""What a call costs by REST, beside the same call by Connect: allocations, which do not depend on the machine's load."""

import statistics

from support.counters import Counters, rest
from support.web_calls import WebCalls

#: The most that REST may cost, as a multiple of Connect's cost.
LIMIT = 1.5
WARM_UP, COUNTED = 20, 50


def test_an_object_by_rest_costs_at_most_half_more_than_by_connect(binary, gateway_with, login, tmp_path):
    counters = Counters(binary.with_name("libcounters.so"), tmp_path / "counters")
    gateway = gateway_with(environment=counters.environment)
    process = gateway.process.pid
    calls = WebCalls(gateway, login(gateway)).kinds()

    def cost(call) -> int:
        rest(process, lambda: counters.allocations)
        before = counters.allocations
        call()
        rest(process, lambda: counters.allocations)
        return counters.allocations - before

    assert calls["rest"]() == calls["connect"]()
    counted = {name: [cost(call) for _ in range(WARM_UP + COUNTED)][WARM_UP:] for name, call in calls.items()}
    by_connect, by_rest = (statistics.median_low(counted[name]) for name in ("connect", "rest"))
    print(f"allocations: {by_connect} by Connect, {by_rest} by REST")
    assert by_connect > 100
    assert by_rest <= LIMIT * by_connect
