/// The formats of the wire under one name: protobuf and its JSON, HTTP/2 sessions, the framings of gRPC, gRPC-Web and
/// Connect, and the paths and forms of REST. Nothing here touches a socket, a file or a clock.
@_exported import GRPCWire
@_exported import HTTP2
@_exported import Protobuf
@_exported import ProtobufJSON
@_exported import REST
