/// All wire formats in one module: protobuf and its JSON mapping, HTTP/2 sessions, the framings of gRPC, gRPC-Web and Connect, and
/// the paths and forms of REST. The code uses no sockets, files or clocks.
@_exported import GRPCWire
@_exported import HTTP2
@_exported import JSON
@_exported import Protobuf
@_exported import ProtobufJSON
@_exported import REST
