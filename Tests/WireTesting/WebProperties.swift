import Wire

/// The properties of header fields and bodies of Connect and gRPC-Web for any bytes.
public enum WebProperties {
    /// The seed inputs of the fuzzer.
    public static let seeds: [[UInt8]] = [
        "application/json; charset=utf-8", "application/connect+proto", "application/grpc-web-text+proto;x=y",
        "encoding=json&message=%7B%22service%22%3A%22hi%22%7D", "connect=v1&base64=1&message=AP-_&encoding=proto",
        "encoding=proto&message=a+b&compression=gzip", "gzip;q=0.5, deflate, br;q=0", "1500", "AQI=AwQFBg==",
        "AAAAAAIIAQ==",
    ].map { Array($0.utf8) }

    public static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        if let type = WebContentType(text), WebContentType(type.name) != type {
            fatalError("\(type.name) is not read as what it was written for")
        }
        if let query = try? ConnectQuery(text[...]), query.message.count > text.utf8.count {
            fatalError("a query has more bytes than its text")
        }
        if let timeout = ConnectTimeout.parse(text), timeout < 0 { fatalError("a timeout is negative") }
        guard MessageEncoding.accepted(text).count <= MessageEncoding.allCases.count else {
            fatalError("an encoding is taken twice")
        }
        checkBase64(input)
    }

    /// Checks that the decoded bytes do not depend on the pieces of a body, and that encoded bytes can be decoded.
    private static func checkBase64(_ input: [UInt8]) {
        let whole = decoded([input])
        let middle = input.count / 2
        guard decoded([Array(input[..<middle]), Array(input[middle...])]) == whole else {
            fatalError("base64 depends on where it is cut")
        }
        guard decoded([Base64Stream.encode(input)]) == input else { fatalError("base64 is not read as it was written") }
    }

    private static func decoded(_ pieces: [[UInt8]]) -> [UInt8]? {
        var stream = Base64Stream()
        var bytes: [UInt8] = []
        for piece in pieces {
            guard let more = try? piece.withUnsafeBytes({ try stream.decode($0) }) else { return nil }
            bytes += more
        }
        return bytes
    }
}
