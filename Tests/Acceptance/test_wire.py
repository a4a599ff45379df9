"""The names, field numbers and codes that deployed clients were built with, listed in `wire.txt`.

Lines may be added to `wire.txt`, but never changed or removed, since a client built years ago must keep working.
"""

import re
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from support import older, stubs

FIELD = descriptor_pb2.FieldDescriptorProto
FIXED = Path(__file__).with_name("wire.txt")
CHANGES = Path(__file__).parents[2] / "CHANGELOG.md"


def lines(files: descriptor_pb2.FileDescriptorSet) -> set[str]:
    """Returns one line for each field, enum value and method."""
    found = set()
    for file in files.file:
        for enum in file.enum_type:
            found |= {f"{file.package}.{enum.name} {value.number} {value.name}" for value in enum.value}
        for message in file.message_type:
            entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
            found.add(f"{file.package}.{message.name}")
            found |= {
                f"{file.package}.{message.name} {field.number} {field.name} {shape(field, entries)}"
                for field in message.field
            }
        for service in file.service:
            for method in service.method:
                takes = "stream " * method.client_streaming + method.input_type.removeprefix(".")
                gives = "stream " * method.server_streaming + method.output_type.removeprefix(".")
                types = f"{takes} {gives}"
                found.add(f"{file.package}.{service.name}/{method.name} {types}")
    return found


def shape(field: FIELD, entries: dict) -> str:
    name = field.type_name.removeprefix(".") or FIELD.Type.Name(field.type).removeprefix("TYPE_").lower()
    entry = entries.get(name.rsplit(".", 1)[-1])
    if entry is not None:
        return "map " + " ".join(shape(member, {}) for member in entry.field)
    if field.label == FIELD.LABEL_REPEATED:
        return f"repeated {name}"
    return f"optional {name}" if field.proto3_optional else name


def ours(files: descriptor_pb2.FileDescriptorSet) -> descriptor_pb2.FileDescriptorSet:
    return descriptor_pb2.FileDescriptorSet(file=[file for file in files.file if file.package.startswith("archebase.")])


def test_the_wire_is_what_clients_were_built_with(protos, tmp_path):
    missing = set(FIXED.read_text().splitlines()) - lines(ours(stubs.descriptors(protos, tmp_path)))
    assert not missing, "\n".join(sorted(missing))


def test_a_release_fixes_its_wire_and_its_data(protos, tmp_path):
    """From its release on, clients are built with what a version has, and later versions find its data."""
    title = re.search(r"^## (\S+) \((.*)\)$", CHANGES.read_text(), re.MULTILINE)
    if title[2] == "unreleased":
        pytest.skip(f"{title[1]} is not released")
    added = lines(ours(stubs.descriptors(protos, tmp_path))) - set(FIXED.read_text().splitlines())
    assert not added, "\n".join(["lines to add to wire.txt:", *sorted(added)])
    assert title[1] in older.versions(), "python -m support.older exports the data of the release"
