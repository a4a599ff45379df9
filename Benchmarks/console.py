"""The console's list of 100,000 objects in headless Chromium: the first row, scrolling through all, and memory.

Server and browser share both cores. `CONSOLE_OBJECTS` sets another number of objects.
"""

import os
import sys
import tempfile
from pathlib import Path

from measuring import ROOT, figure
from metadata import PASSWORD, catalog
from support import stubs as stubs_module
from support.browser import Browser
from support.gateway import Gateway

OBJECTS = int(os.environ.get("CONSOLE_OBJECTS", 100_000))
ROUNDS = 5
WIDE = (1440, 900)
#: The number of frames in which the list is scrolled from its beginning to its end.
FRAMES = 300
#: Notes when the first row is in the page, and every task that is longer than 50 ms, the limit of the Long Tasks API.
WATCH = """
window.longTasks = []
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration)))
  .observe({ type: 'longtask', buffered: true })
new MutationObserver((_, observer) => {
  if (!document.querySelector('.row-link')) return
  requestAnimationFrame(() => { window.firstRow ??= performance.now() })
  observer.disconnect()
}).observe(document, { childList: true, subtree: true })
"""
#: Scrolls through the whole list, one step a frame; resolves to the longest time between two frames.
SCROLL = """
longTasks.length = 0
let [last, longest] = [performance.now(), 0]
for (let frame = 1; frame <= arguments[0]; frame += 1) {
  scrollTo(0, document.documentElement.scrollHeight * frame / arguments[0])
  await new Promise(requestAnimationFrame)
  const now = performance.now()
  longest = Math.max(longest, now - last)
  last = now
}
return longest
"""


def memory(browser: Browser) -> float:
    """Returns the page's used heap in MiB, after a collection of garbage."""
    browser.driver.execute_cdp_cmd("HeapProfiler.enable", {})
    browser.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return browser.driver.execute_script("return performance.memory.usedJSHeapSize") / (1 << 20)


def main(binary: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(os.environ.get("DATA_GATEWAY_BENCHMARK_CACHE", folder))
        stubs = stubs_module.load(ROOT / "protos", Path(folder))
        processors = os.sched_getaffinity(0)
        ours = Gateway(Path(binary), catalog(binary, stubs, cache, OBJECTS))
        os.sched_setaffinity(0, processors)
        ours.start()
        browser = Browser(Path(folder))
        try:
            measure(browser, f"http://{ours.listeners['web']}/console/")
        finally:
            browser.close()
            ours.close()


def measure(browser: Browser, base: str) -> None:
    browser.resize(WIDE)
    browser.open(base)
    browser.sign_in("field", "boss", PASSWORD)
    browser.heading("Overview")
    browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    first, frames, tasks, counts, heap = [], [], [], [], []
    for _ in range(ROUNDS):
        browser.open("about:blank")
        browser.open(f"{base}#/objects")
        first.append(browser.until(lambda: browser.driver.execute_script("return window.firstRow")))
        frames.append(browser.script(SCROLL, FRAMES))
        browser.until(lambda: browser.driver.execute_script("return document.querySelectorAll('.row-link').length > 5"))
        longest = browser.driver.execute_script("return longTasks")
        tasks.append(max(longest, default=0))
        counts.append(len(longest))
        heap.append(memory(browser))
    figure("console.objects.first_row", first, "ms")
    figure("console.objects.scroll.longest_task", tasks, "ms")
    figure("console.objects.scroll.tasks_over_50ms", counts, "")
    figure("console.objects.scroll.longest_frame", frames, "ms")
    figure("console.objects.heap", heap, "MiB")


if __name__ == "__main__":
    main(sys.argv[1])
