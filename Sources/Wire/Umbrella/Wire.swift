/// All wire formats in one module: protobuf and its JSON mapping, HTTP/2 sessions, and the framings of gRPC, gRPC-Web and Connect.
/// The code uses no sockets, files or clocks.
@_exported import GRPCWire
@_exported import HTTP2
@_exported import Protobuf
@_exported import ProtobufJSON
