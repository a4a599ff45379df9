"""Recordings: the times and topics of what writers in the field write are found."""

from mcap.writer import CompressionType
from support.gateway import eventually
from support.parties import unique
from support.recordings import START, recording, shapes
from support.uploads import FILE_NAME_TAG, Upload

TOPICS = ("/imu", "/camera/front")


def store(uploader, run: str, name: str, data: bytes) -> None:
    Upload.create(uploader).put(data).complete({"run": run, FILE_NAME_TAG: f"{name}.mcap"})


def names(admin, filter: str) -> set[str]:
    return {found.name.removesuffix(".mcap") for found in admin.list_all(filter=filter)}


def test_every_shape_of_the_public_library_is_found(uploader, admin):
    run = unique("run")
    found_by_topic = set()
    for name, options in shapes():
        store(uploader, run, name, recording(messages=6, **options))
        # The topics are in compressed chunks only, which are not read.
        is_hidden = not options["repeat_channels"] and options["compression"] != CompressionType.NONE
        found_by_topic |= set() if is_hidden else {name}
    everything = {name for name, _ in shapes()}
    span = f"recorded_from>=2026-11-22 recorded_to<2026-11-23 raw_tags.run={run}"
    eventually(lambda: names(admin, span) == everything)
    for topic in TOPICS:
        assert names(admin, f"topic={topic} raw_tags.run={run}") == found_by_topic
    for found in admin.list_all(filter=f"raw_tags.run={run}"):
        assert (found.recorded_from.seconds, found.recorded_from.nanos) == (START, 0), found.name
        assert (found.recorded_to.seconds, found.recorded_to.nanos) == (START, 700_000_000), found.name


def test_recording_that_was_not_closed_is_found(uploader, admin):
    run = unique("run")
    whole = recording(messages=200, chunk_size=4000)
    files = {"no end": whole[:-20], "no summary": whole[: len(whole) // 2], "in its first chunk": whole[:2000]}
    for name, data in files.items() | {"preallocated": whole[: len(whole) // 2] + bytes(100_000)}.items():
        store(uploader, run, name, data)
    span = f"recorded_from>=2026-11-22 recorded_to<2026-11-23 raw_tags.run={run}"
    eventually(lambda: len(names(admin, span)) == 4)
    assert len(names(admin, f"topic=/imu topic=/camera/front raw_tags.run={run}")) == 4


def test_file_that_is_no_recording_is_stored_without_topics(uploader, admin):
    run = unique("run")
    for name, data in {"empty": b"", "text": b"no recording" * 100, "magic": recording()[:8]}.items():
        store(uploader, run, name, data)
    store(uploader, run, "recording", recording())
    # The newest is read first.
    store(uploader, run, "last", b"\x89MCAP0\r\n" + b"\xff" * 1000)
    eventually(lambda: names(admin, f"topic=/imu raw_tags.run={run}") == {"recording"})
    assert len(names(admin, f"raw_tags.run={run}")) == 5
