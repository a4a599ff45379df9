/// The formats of the wire under one name: protobuf and its JSON, HTTP/2 sessions, and the framings of gRPC, gRPC-Web and
/// Connect. Nothing here touches a socket, a file or a clock.
@_exported import GRPCWire
@_exported import HTTP2
@_exported import Protobuf
@_exported import ProtobufJSON
