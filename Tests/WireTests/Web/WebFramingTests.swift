import TestSupport
import Testing
import Wire

@testable import GRPCWire

/// Content types, and the parts of gRPC-Web that need no connection.
@Suite(.timeLimited) struct WebFramingTests {
    @Test(arguments: [
        ("application/json", WebContentType.Shape.connectUnary, WebContentType.Codec.json),
        ("Application/JSON ; Charset=UTF-8", .connectUnary, .json), ("application/proto", .connectUnary, .proto),
        ("application/connect+json", .connectStream, .json), ("application/connect+proto", .connectStream, .proto),
        ("application/grpc-web", .grpcWeb, .proto), ("application/grpc-web+proto", .grpcWeb, .proto),
        ("application/grpc-web+json", .grpcWeb, .json), ("application/grpc-web-text", .grpcWebText, .proto),
        ("application/grpc-web-text+proto;x=y", .grpcWebText, .proto),
    ])
    func contentTypesGiveShapeAndCodec(value: String, shape: WebContentType.Shape, codec: WebContentType.Codec) throws {
        let type = try #require(WebContentType(value))
        #expect(type.shape == shape && type.codec == codec)
        #expect(value.lowercased().hasPrefix(type.name))
    }

    @Test(arguments: [
        "", "text/json", "application/", "application/xml", "application/grpc", "application/grpc-webx",
        "application/connect+", "application/connect+xml", "application/json; charset=latin1", "json", ";",
        "application/grpc-web-text+", "application/x-www-form-urlencoded",
    ])
    func otherContentTypesAreRefused(value: String) {
        #expect(WebContentType(value) == nil)
    }

    @Test func namesAreMade() {
        #expect(WebContentType(.connectStream, .json).name == "application/connect+json")
        #expect(WebContentType(.grpcWebText, .proto).name == "application/grpc-web-text+proto")
    }

    @Test(arguments: [
        ("gzip", [MessageEncoding.gzip]), ("br, deflate ,GZIP;q=0.2", [.gzip, .deflate]), ("gzip;q=0", []), ("", []),
        ("*", []),
    ])
    func acceptedEncodingsAreKnownOnesInOrder(list: String, encodings: [MessageEncoding]) {
        #expect(MessageEncoding.accepted(list) == encodings)
    }

    @Test func trailersAreOneFrame() {
        let frame = GRPCWebTrailers.frame([("grpc-status", [0x30]), ("x", [])])
        #expect(frame == [0x80, 0, 0, 0, 21] + Array("grpc-status: 0\r\nx: \r\n".utf8))
    }

    /// Pieces of any size, with padding wherever the client ended a piece of its own.
    @Test(arguments: 1...9)
    func base64StreamDecodesHoweverItIsCut(size: Int) throws {
        let text = Array("AQI=AwQFBg==".utf8) + Base64Stream.encode([7, 8, 9])
        var stream = Base64Stream()
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: size) {
            bytes += try text[start..<min(start + size, text.count)].withUnsafeBytes { try stream.decode($0) }
        }
        #expect(bytes == Array(1...9))
        #expect(!stream.isWithinGroup)
    }

    @Test(arguments: ["AAA?", "====", "A===", "=AAA", "AA=A", "AAAA\n"])
    func malformedBase64StreamIsRefused(text: String) throws {
        var stream = Base64Stream()
        do {
            _ = try Array(text.utf8).withUnsafeBytes { try stream.decode($0) }
            #expect(stream.isWithinGroup)
        } catch {
            #expect(error is Base64Stream.Malformed)
        }
    }
}
