"""Recordings in the MCAP format."""

import io

from mcap.writer import CompressionType, Writer

#: The time of the first message: 2026-11-22T00:00:00Z.
START = 1_795_305_600


def recording(
    topics: tuple[str, ...] = ("/imu", "/camera/front"), messages: int = 30, payload: bytes = bytes(64)
) -> bytes:
    """Returns a recording with messages in turns on each topic, a tenth of a second apart on each."""
    stream = io.BytesIO()
    writer = Writer(stream, compression=CompressionType.NONE)
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
