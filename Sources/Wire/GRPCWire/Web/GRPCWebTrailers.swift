/// The trailers of a gRPC-Web response: HTTP/1 field lines in a final message with the flag 0x80 (gRPC-Web, "Protocol differences
/// vs gRPC over HTTP2").
public enum GRPCWebTrailers {
    private static let flag: UInt8 = 0x80

    /// - Parameter fields: names in lower case.
    public static func frame(_ fields: [(name: String, value: [UInt8])]) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: MessagePrefix.byteCount)
        for (name, value) in fields {
            frame += name.utf8
            frame += ": ".utf8
            frame += value
            frame += "\r\n".utf8
        }
        MessagePrefix.write(to: &frame)
        frame[0] = flag
        return frame
    }
}
