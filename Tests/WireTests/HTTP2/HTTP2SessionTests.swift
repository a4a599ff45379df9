import TestSupport
import Testing
import Wire

@testable import HTTP2

/// A server's session with hand-written bytes as input.
private final class Server: HTTP2SessionHost {
    /// Whether streams are accepted; otherwise each is refused.
    var isOpen = true
    var now: UInt64 { 0 }
    private(set) var streams: [HTTP2Stream] = []
    private var session: HTTP2Session?

    init() {
        session = HTTP2Session(role: .server, host: self)
    }

    func openStream() -> HTTP2Stream? {
        guard isOpen else { return nil }
        streams.append(HTTP2Stream())
        return streams.last
    }

    func outputPending() {}

    func receive(_ bytes: [UInt8]) {
        // GOAWAY reports the failure as well.
        bytes.withUnsafeBytes { _ = try? session?.receive($0) }
    }

    var isWithinHeaderSection: Bool { session?.isWithinHeaderSection ?? false }

    func goAway() { session?.submitGoAway() }

    /// Returns type, stream and error code of every RST_STREAM and GOAWAY in the pending output.
    func errors() throws -> [String] {
        var output: [UInt8] = []
        while let bytes = try session?.nextOutput() { output.append(contentsOf: bytes) }
        var errors: [String] = []
        var heads = FrameHeads(preface: 0)
        var offset = 0
        while let head = output.withUnsafeBytes({ heads.next(in: $0, at: &offset) }) {
            let payload = head.start + FrameHeads.byteCount
            if head.type == 3 { errors.append("RST_STREAM \(head.stream): \(output[payload + 3])") }
            if head.type == 7 { errors.append("GOAWAY: \(output[payload + 7])") }
        }
        return errors
    }
}

@Suite(.timeLimited) struct HTTP2SessionTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

    /// POST http /, at authority `a`.
    private static func headers(_ stream: UInt8, endsStream: Bool = false) -> [UInt8] {
        [0, 0, 6, 1, endsStream ? 5 : 4, 0, 0, 0, stream, 0x83, 0x86, 0x84, 0x41, 1, 0x61]
    }

    private static func data(_ stream: UInt8) -> [UInt8] { [0, 0, 1, 0, 0, 0, 0, 0, stream, 9] }

    private static func reset(_ stream: UInt8) -> [UInt8] { [0, 0, 4, 3, 0, 0, 0, 0, stream, 0, 0, 0, 8] }

    @Test(arguments: 1...40)
    func dataBehindAResetIsAnErrorHoweverItIsCut(at size: Int) throws {
        let server = Server()
        server.receive(Self.preface)
        let bytes = Self.headers(1) + Self.reset(1) + Self.data(1)
        server.receive(Array(bytes.prefix(size)))
        server.receive(Array(bytes.dropFirst(size)))
        #expect(try server.errors() == ["GOAWAY: 5"])
    }

    @Test func dataBeforeAResetIsNone() throws {
        let server = Server()
        server.receive(Self.preface + Self.headers(1) + Self.headers(3))
        server.receive(Self.data(1) + Self.reset(1) + Self.data(3))
        #expect(try server.errors().isEmpty)
        #expect(server.streams.count == 2)
    }

    @Test func framesOfARefusedStreamAreIgnored() throws {
        let server = Server()
        server.isOpen = false
        server.receive(Self.preface + Self.headers(1) + Self.data(1) + Self.headers(3) + Self.data(1))
        #expect(try server.errors() == ["RST_STREAM 1: 7", "RST_STREAM 3: 7"])
        server.receive(Self.data(1) + Self.data(3))
        #expect(try server.errors().isEmpty)
    }

    @Test func aStreamThatCrossesOurGoAwayIsIgnored() throws {
        let server = Server()
        server.receive(Self.preface + Self.headers(1))
        server.goAway()
        #expect(try server.errors() == ["GOAWAY: 0"])
        server.receive(Self.headers(3) + Self.data(3) + Self.data(1))
        #expect(try server.errors().isEmpty)
        #expect(server.streams.count == 1)
    }

    /// Otherwise the connection would count as one with an unfinished header section, and be cut off.
    @Test func aMalformedHeaderSectionHasAnEnd() throws {
        let server = Server()
        // There is no :path.
        server.receive(Self.preface + [0, 0, 2, 1, 5, 0, 0, 0, 1, 0x83, 0x86])
        #expect(!server.isWithinHeaderSection)
        #expect(try server.errors() == ["RST_STREAM 1: 1"])
    }

    @Test func aSkippedStreamIsAProtocolError() throws {
        let server = Server()
        server.receive(Self.preface + Self.headers(5) + Self.headers(3))
        #expect(try server.errors() == ["GOAWAY: 1"])
    }

    /// The client may have sent on a stream before it received the server's reset.
    @Test func framesThatCrossOurResetAreIgnored() throws {
        let server = Server()
        server.receive(Self.preface + Self.headers(1) + Self.headers(3))
        try #require(server.streams.first).reset(.cancel)
        #expect(try server.errors() == ["RST_STREAM 1: 8"])
        server.receive(Self.data(1) + Self.headers(1, endsStream: true) + Self.data(3))
        #expect(try server.errors().isEmpty)
    }
}
