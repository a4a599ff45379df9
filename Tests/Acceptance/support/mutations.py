"""Bytes and messages that no regular client sends, generated from a fixed seed."""

import random
from dataclasses import dataclass

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message


@dataclass
class Mutations:
    """Variants of `documents` with changes at up to six places, some of them by inserting `pieces`."""

    random: random.Random
    documents: list[bytes]
    pieces: list[bytes]

    def next(self) -> bytes:
        draw = self.random
        document = bytearray(draw.choice(self.documents))
        for _ in range(draw.randrange(7)):
            place = draw.randrange(len(document) + 1)
            match draw.randrange(6):
                case 0:
                    document[place:place] = draw.choice(self.pieces)
                case 1:
                    document[place : place + 1] = bytes([draw.randrange(256)])
                case 2:
                    del document[place : place + draw.randrange(1, 20)]
                case 3:
                    document[place:place] = document[place : place + draw.randrange(1, 60)]
                case 4:
                    document[place:place] = draw.choice(self.pieces) * draw.randrange(1, 50)
                case _:
                    document[place:] = draw.choice(self.documents)[place:]
        return bytes(document)


TEXTS = [
    "", " ", "\0", "\n", "a" * 256, "a" * 70_000, "..", "../" * 20, "/", "%00", "%s%n", "'; --", '"', "é" * 64, "\u202e",
    "\U0001f916", "\ufeff", "0", "-1", "9" * 40, "null", "true", "{}", "[" * 3000, "1970-01-01T00:00:00Z", "system",
    "http://127.0.0.1:1/", "file:///", "s3://", "*", "a=b", "created_at > 0", "((((", "a:b:c", "019aa000-0000-7000-8000-000000000000",
]  # fmt: skip
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_NUMBERS = [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7e308]


@dataclass
class Extremes:
    """Messages whose fields have extreme values.

    texts: values for text fields, in addition to `TEXTS`; existing names and ids reach further code than others.
    """

    random: random.Random
    texts: list[str]

    def message(self, kind: type[Message]) -> Message:
        message = kind()
        self._fill(message, 0)
        return message

    def _fill(self, message: Message, depth: int) -> None:
        for field in message.DESCRIPTOR.fields:
            if depth > 3 or self.random.random() < 0.25:
                continue
            if field.message_type and field.message_type.GetOptions().map_entry:
                self._fill_map(message, field)
            elif field.message_type:
                inner = getattr(message, field.name)
                parts = [inner.add() for _ in range(self._count())] if field.is_repeated else [inner]
                for part in parts:
                    part.SetInParent()
                    self._fill(part, depth + 1)
            elif field.is_repeated:
                getattr(message, field.name).extend(self._value(field) for _ in range(self._count()))
            else:
                setattr(message, field.name, self._value(field))

    def _fill_map(self, message: Message, field: FieldDescriptor) -> None:
        entry = field.message_type.fields_by_name
        for _ in range(self._count()):
            key, value = self._value(entry["key"]), entry["value"]
            if value.message_type:
                self._fill(getattr(message, field.name)[key], 3)
            else:
                getattr(message, field.name)[key] = self._value(value)

    def _count(self) -> int:
        return self.random.choice([0, 1, 1, 2, 3, 300])

    def _value(self, field: FieldDescriptor):
        draw = self.random
        kind = field.cpp_type
        if kind in _INTEGERS:
            least, most = _INTEGERS[kind]
            return draw.choice([least, most, 0, 1, max(least, -1), 2, 1000, most // 2, draw.randint(least, most)])
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return draw.random() < 0.5
        if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return draw.choice(_NUMBERS)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return draw.choice([b"", b"\0", b"\xff" * 100, b"a" * 70_000])
        return draw.choice(self.texts if draw.random() < 0.5 else TEXTS)
