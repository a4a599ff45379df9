/// All wire formats in one module: protobuf and its JSON mapping, HTTP/2 sessions, the framings of gRPC, gRPC-Web and Connect, and
/// the paths and forms of REST. The code uses no sockets, files or clocks.
@_exported public import GRPCWire
@_exported public import HTTP2
@_exported import JSON
@_exported public import Protobuf
@_exported public import ProtobufJSON
@_exported public import REST
