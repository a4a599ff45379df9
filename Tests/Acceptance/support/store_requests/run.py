"""The command line of `scripts/store-requests`."""

import argparse
import sys
import tempfile
from pathlib import Path

from . import cases_access, cases_browsers, cases_objects, cases_requests
from .recording import Recorder, differences, read, write
from .world import World

ROOT = Path(__file__).resolve().parents[4]
#: A file system in memory: no response depends on the disk, and thousands of objects would have to be synced.
MEMORY = Path("/dev/shm")
#: URLs expire while the other areas are recorded.
AREAS = [
    cases_browsers.repeated_urls, cases_access.operations, cases_access.static_keys, cases_access.device_objects,
    cases_access.temporary, cases_access.temporary_dialects, cases_access.defective_keys, cases_access.dates,
    cases_access.mangled, cases_access.two_authentications, cases_access.variants, cases_requests.subresources,
    cases_requests.methods, cases_requests.properties, cases_requests.rules, cases_requests.temporary_rules,
    cases_objects.conditions, cases_objects.ranges, cases_objects.reads, cases_objects.puts, cases_objects.chunks,
    cases_objects.multiparts, cases_objects.documents, cases_objects.tags, cases_objects.lists, cases_objects.copies,
    cases_objects.appends, cases_browsers.cross_origin, cases_browsers.forms, cases_browsers.targets,
    cases_browsers.aborted_upload, cases_browsers.expired_urls,
]  # fmt: skip


def record(file: Path, binary: Path, only: str | None = None) -> int:
    """Records the responses of a gateway, and prints how many."""
    with tempfile.TemporaryDirectory(prefix="store-requests-", dir=MEMORY if MEMORY.is_dir() else None) as directory:
        world = World.start(binary, Path(directory))
        try:
            recorder = Recorder(world)
            for area in AREAS:
                if only and only not in area.__name__:
                    continue
                recorder.area = area.__name__.replace("_", " ")
                area(recorder)
            write(recorder.lines(), file)
        finally:
            world.gateway.close()
    print(f"{len(recorder.replies)} requests")
    return 0


def compare(old: Path, new: Path) -> int:
    """Prints the labels whose lines differ; returns 1 if there are any."""
    texts = differences(read(old), read(new))
    for text in texts:
        print(text)
    return 1 if texts else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    recording = commands.add_parser("record", help="record the responses of a gateway")
    recording.add_argument("file", type=Path, metavar="FILE")
    recording.add_argument("--binary", type=Path, default=ROOT / ".build/debug/data-gateway", help="the gateway")
    recording.add_argument("--only", help="only the areas whose names contain this text")
    comparison = commands.add_parser("compare", help="print what differs between two recordings")
    comparison.add_argument("old", type=Path, metavar="OLD")
    comparison.add_argument("new", type=Path, metavar="NEW")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        return compare(arguments.old, arguments.new)
    return record(arguments.file, arguments.binary, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
