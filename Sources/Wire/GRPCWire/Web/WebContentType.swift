/// The content type of a request that is not gRPC itself: the framing and the codec of its messages.
public struct WebContentType: Sendable, Hashable {
    /// The framing of messages in the body.
    public enum Shape: Sendable, Hashable {
        /// The body is the message (Connect protocol, "Unary-Request").
        case connectUnary
        /// Messages with prefixes like gRPC's (Connect protocol, "Streaming-Request").
        case connectStream
        /// gRPC's framing, with the trailers in a final message (gRPC-Web, "Protocol differences vs gRPC over HTTP2").
        case grpcWeb
        /// The same in Base64, for browsers that can only read text.
        case grpcWebText
    }

    /// The encoding of a message.
    public enum Codec: String, Sendable, Hashable {
        case proto
        case json
    }

    public let shape: Shape
    public let codec: Codec
    /// The media type without parameters, which is also the content type of the response.
    public let name: String

    public init(_ shape: Shape, _ codec: Codec) {
        self.init(shape, codec, name: Self.prefixes.first { $0.shape == shape }.map { $0.text + codec.rawValue } ?? "")
    }

    private init(_ shape: Shape, _ codec: Codec, name: String) {
        self.shape = shape
        self.codec = codec
        self.name = name
    }

    private static let prefixes: [(text: String, shape: Shape)] = [
        ("application/connect+", .connectStream), ("application/grpc-web-text+", .grpcWebText),
        ("application/grpc-web+", .grpcWeb), ("application/", .connectUnary),
    ]

    /// Returns `nil` for all other types, and for JSON in a character set other than UTF-8 (RFC 8259, section 8.1).
    public init?(_ value: String) {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let parts = value.lowercased().split(separator: ";", omittingEmptySubsequences: false)
            .map { String($0.drop(while: isBlank).prefix { !isBlank($0) }) }
        guard let name = parts.first else { return nil }
        for parameter in parts.dropFirst() where parameter.hasPrefix("charset=") {
            guard ["charset=utf-8", "charset=\"utf-8\""].contains(parameter) else { return nil }
        }
        switch name {
        case "application/grpc-web": self.init(.grpcWeb, .proto, name: name)
        case "application/grpc-web-text": self.init(.grpcWebText, .proto, name: name)
        default:
            for (prefix, shape) in Self.prefixes where name.hasPrefix(prefix) {
                guard let codec = Codec(rawValue: String(name.dropFirst(prefix.count))) else { continue }
                self.init(shape, codec, name: name)
                return
            }
            return nil
        }
    }
}
