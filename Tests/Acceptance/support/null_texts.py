"""Requests with the character U+0000 in one of their texts, for all methods that the .proto files describe."""

from collections.abc import Iterator
from pathlib import Path

from google.protobuf import (  # noqa: F401 (registers the files of the well-known types)
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor import Descriptor, FieldDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from . import stubs

TEXT = "a\0b"


def services(protos: Path, out: Path) -> dict[str, ServiceDescriptor]:
    """Returns the services of every file below `protos` by their full names."""
    files = {file.name: file for file in stubs.descriptors(protos, out).file}
    pool = descriptor_pool.DescriptorPool()
    added = set()

    def add(name: str) -> None:
        if name in added:
            return
        added.add(name)
        file = files.get(name)
        if file is None:
            known = descriptor_pool.Default().FindFileByName(name)
            file = descriptor_pb2.FileDescriptorProto.FromString(known.serialized_pb)
        for dependency in file.dependency:
            add(dependency)
        pool.Add(file)

    for name in files:
        add(name)
    found = [service for name in files for service in pool.FindFileByName(name).services_by_name.values()]
    return {service.full_name: service for service in found}


def requests(kind: Descriptor) -> Iterator[tuple[str, bytes]]:
    """Returns an encoded message for each string field at any depth, with the path that a refusal names."""
    for path, message in _messages(kind, ()):
        yield ".".join(path), message.SerializeToString()


def _messages(kind: Descriptor, outer: tuple[str, ...]) -> Iterator[tuple[list[str], Message]]:
    if kind.full_name in outer:
        return
    for field in kind.fields:
        for path, value in _values(field, (*outer, kind.full_name)):
            message = message_factory.GetMessageClass(kind)()
            _put(message, field, value)
            yield [field.name, *path], message


def _values(field: FieldDescriptor, outer: tuple[str, ...]) -> Iterator[tuple[list[str], object]]:
    """Returns values of the field: an element of a list, or an entry of a map; with the path below the field."""
    if field.type == FieldDescriptor.TYPE_STRING:
        yield [], TEXT
    elif field.message_type:
        # Of maps, and of well-known types, which are one value in JSON, the field itself is named.
        is_value = field.message_type.GetOptions().map_entry or field.message_type.file.package == "google.protobuf"
        for path, message in _messages(field.message_type, outer):
            yield [] if is_value else path, message


def _put(message: Message, field: FieldDescriptor, value) -> None:
    if field.message_type and field.message_type.GetOptions().map_entry:
        if field.message_type.fields_by_name["value"].message_type:
            getattr(message, field.name)[value.key].MergeFrom(value.value)
        else:
            getattr(message, field.name)[value.key] = value.value
    elif field.is_repeated:
        getattr(message, field.name).append(value)
    elif field.message_type:
        getattr(message, field.name).MergeFrom(value)
    else:
        setattr(message, field.name, value)
