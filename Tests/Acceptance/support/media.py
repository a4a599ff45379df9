"""Pictures, sounds and a film."""

import io
import struct
import wave
import zlib
from pathlib import Path

#: A film of 4 s, 160 × 120 pixels, in H.264.
CLIP = Path(__file__).with_name("clip.mp4")


def png(width: int, height: int) -> bytes:
    """Returns a picture with a gradient."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    row = lambda y: b"\0" + b"".join(bytes((x * 255 // width, 128, y * 255 // height)) for x in range(width))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(row(y) for y in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def wav(seconds: int) -> bytes:
    """Returns a tone."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(8000)
        period = b"".join(struct.pack("<h", 9000 if number < 10 else -9000) for number in range(20))
        writer.writeframes(period * (400 * seconds))
    return file.getvalue()
