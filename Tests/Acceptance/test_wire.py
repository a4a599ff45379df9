"""The names, field numbers and codes that deployed clients were built with, listed in `wire.txt`.

Lines may be added to `wire.txt`, but never changed or removed, since a client built years ago must keep working.
"""

from pathlib import Path

from google.protobuf import descriptor_pb2
from support import stubs

FIELD = descriptor_pb2.FieldDescriptorProto


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
    fixed = set(Path(__file__).with_name("wire.txt").read_text().splitlines())
    missing = fixed - lines(ours(stubs.descriptors(protos, tmp_path)))
    assert not missing, "\n".join(sorted(missing))
