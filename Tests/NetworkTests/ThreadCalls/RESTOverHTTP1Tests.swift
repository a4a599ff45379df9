import EventLoops
import GatewayFormats
import HTTPServer
import HTTPTestClient
import Proto
import RPC
import TestSupport
import Testing
import ThreadCalls
import Wire
import WireTesting

/// Tests REST over HTTP/1.1, with a client that detects the end of a response.
@Suite(.timeLimited) struct RESTOverHTTP1Tests {
    private func withDaemon(_ body: (HTTPDaemon) throws -> Void) throws {
        var router = Router()
        router.add(BodiesMethods.pieces) { (request: StreamRequest, responses: ResponseWriter<UploadPiece>, _) in
            for _ in 0..<request.count {
                try await responses.write(UploadPiece(raw: [UInt8](repeating: 0x61, count: 100_000)))
            }
            if request.fails { throw RPCError.failedPrecondition("stopped") }
        }
        router.add(BodiesMethods.fetch) { (request: GetNamedMessageRequest, _) in
            HttpBody(contentType: "text/plain", data: Array(request.name.utf8))
        }
        router.add(BodiesMethods.upload) { (requests: RequestStream<UploadPiece>, _) in
            var size = 0
            for try await piece in requests { size += piece.content?.data.count ?? 0 }
            return TextMessage(size: Int64(size))
        }
        router.add(routes: TestFiles.routes)
        let loops = [EventLoop(name: "one")]
        let json = JSONMapping(schema: try Schema(ProtoFiles.all + TestFiles.all))
        let server = RPCServer(router: router, web: WebProtocols(json: json))
        let daemon = try HTTPDaemon(
            host: "127.0.0.1", port: 0, configuration: HTTPServerConfiguration(),
            handler: RPCRequestHandler(server: server, loops: loops))
        defer {
            daemon.stop(drainingFor: .zero)
            for loop in loops { loop.stop() }
        }
        try body(daemon)
    }

    private func get(_ path: String, _ method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
    }

    /// After an error in the body, the connection is closed without the last chunk, independent of the amount sent before.
    @Test(arguments: [1, 20]) func failedStreamHasNoLastChunk(pieces: Int) throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            try client.send(get("/v1/bodies/a:pieces?count=\(pieces)&fails=true"))
            #expect(try client.response().status == 200)
            #expect(throws: (any Error).self) { try client.chunkedBody() }
            let whole = try RawConnection(port: daemon.port)
            try whole.send(get("/v1/bodies/a:pieces?count=20"))
            #expect(try whole.response().status == 200)
            #expect(try whole.chunkedBody().count == 2_000_000)
        }
    }

    @Test func headTellsTheLengthAndTheConnectionGoesOn() throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            for _ in 0..<2 {
                try client.send(get("/v1/bodies/abc", "HEAD"))
                let head = try client.response(toHead: true)
                #expect(head.status == 200 && head.fields["content-length"] == "3")
            }
            try client.send(get("/v1/bodies/abc"))
            #expect(try client.response().text == "abc")
        }
    }

    /// A body in pieces may be longer than the largest message.
    @Test func longBodyIsTakenInPieces() throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            let size = 9_000_000
            try client.send(
                "POST /v1/bodies/a HTTP/1.1\r\nHost: h\r\nContent-Type: video/mp4\r\nContent-Length: \(size)\r\n\r\n")
            try client.send([UInt8](repeating: 0x62, count: size))
            #expect(try client.response().text == #"{"size":"\#(size)"}"#)
        }
    }
}
