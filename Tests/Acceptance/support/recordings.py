"""Recordings in the MCAP format."""

import io
import itertools

from mcap.writer import CompressionType, IndexType, Writer

#: The time of the first message: 2026-11-22T00:00:00Z.
START = 1_795_305_600


def recording(
    topics: tuple[str, ...] = ("/imu", "/camera/front"), messages: int = 30, payload: bytes = bytes(64), **options
) -> bytes:
    """Returns a recording with messages in turns on each topic, a tenth of a second apart on each.

    The options are those of the library's writer.
    """
    stream = io.BytesIO()
    writer = Writer(stream, **{"compression": CompressionType.NONE} | options)
    writer.start(profile="ros2", library="tests")
    schemas = {
        topic: writer.register_schema(f"sensor_msgs/{topic.split('/')[1].capitalize()}", "ros2msg", b"float64 x")
        for topic in topics
    }
    channels = [writer.register_channel(topic, "cdr", schemas[topic]) for topic in topics]
    for number in range(messages):
        time = START * 10**9 + (number // len(topics)) * 100_000_000 + (number % len(topics)) * 500_000_000
        writer.add_message(channels[number % len(topics)], time, payload, time)
    writer.add_attachment(START * 10**9, START * 10**9, "calibration.yaml", "application/yaml", b"a: 1")
    writer.add_metadata("robot", {"name": "blue"})
    writer.finish()
    return stream.getvalue()


def shapes():
    """Yields every combination of the writer's options that changes where topics and times are, with a name."""
    flags = list(itertools.product((True, False), repeat=3))
    indexes = (IndexType.ALL, *IndexType)
    storage = [(True, compression) for compression in CompressionType] + [(False, CompressionType.NONE)]
    for (chunked, compression), (repeats, statistics, offsets), index in itertools.product(storage, flags, indexes):
        # A chunk for each message or two.
        options = {"use_chunking": chunked, "compression": compression, "chunk_size": 200, "index_types": index}
        options |= {"repeat_channels": repeats, "repeat_schemas": repeats}
        options |= {"use_statistics": statistics, "use_summary_offsets": offsets}
        yield "-".join(str(getattr(value, "name", value)) for value in options.values()), options
