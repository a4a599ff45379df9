import Basics
import Dispatch
import HTTPClient
import HTTPTestClient
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// A count that several threads change.
final class Ended: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .sequentiallyConsistent) }

    func count(_ more: Int = 1) { number.add(more, ordering: .sequentiallyConsistent) }
}

@Suite(.timeLimited) struct StreamedBodiesTests {
    private static let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func impatient(_ limit: Duration = .seconds(2)) -> HTTPConnection {
        var options = HTTPConnection.Options()
        options.stallTimeout = limit
        return HTTPConnection(options)
    }

    /// Waits for longer than the stall timeout of an impatient connection.
    private static func outlastStall() async throws {
        let stalled = try RawServer(nil)
        defer { stalled.stop() }
        await #expect(throws: TransferFailure.self) {
            try await impatient(.seconds(3)).exchange(HTTPRequest("GET", stalled.url))
        }
    }

    private static func put(_ server: RawServer) -> HTTPRequest { HTTPRequest("PUT", server.url + "/x") }

    // MARK: Uploads

    @Test func uploadInPiecesArrivesWhole() async throws {
        let size = 3 << 20
        let received = Lock<(head: String, body: [UInt8])>(("", []))
        let server = try RawServer { peer in
            let head = try peer.head()
            let body = peer.body(size)
            received.withLock { $0 = (head, body) }
            try peer.send(Self.response)
        }
        defer { server.stop() }
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let upload = HTTPConnection().upload(Self.put(server), size: Int64(size))
        var offset = 0
        for count in [1, 100, 65_536, 1 << 20, 131_072, 131_073] {
            try await upload.write(Array(bytes[offset..<offset + count]))
            offset += count
        }
        try await upload.write(Array(bytes[offset...]))
        let reply = try await upload.finish()
        #expect(reply.status == 200)
        #expect(reply.body == Array("ok".utf8))
        #expect(received.withLock { $0.body } == bytes)
        #expect(
            received.withLock {
                !$0.head.lowercased().contains("expect") && $0.head.contains("Content-Length: 3145728")
            })
    }

    @Test func uploadFromBlockingThreadArrivesWhole() throws {
        let size = 1 << 20
        let received = Ended()
        let server = try RawServer { peer in
            _ = try peer.head()
            received.count(peer.body(size).count)
            try peer.send(Self.response)
        }
        defer { server.stop() }
        let upload = HTTPConnection().upload(Self.put(server), size: Int64(size))
        let status = Ended()
        let thread = TestThread {
            let piece = [UInt8](repeating: 5, count: size / 4)
            do {
                for _ in 0..<4 { try piece.withUnsafeBytes { try upload.writeBlocking($0) } }
                status.count(try upload.finishBlocking().status)
            } catch {
                Issue.record(error)
            }
        }
        try thread.join()
        #expect(status.value == 200)
        #expect(received.value == size)
    }

    @Test func emptyUploadIsSentByItsEndOnly() async throws {
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send(Self.response)
        }
        defer { server.stop() }
        let connection = HTTPConnection()
        do { _ = connection.upload(Self.put(server), size: 0) }
        let canceled = connection.upload(Self.put(server), size: 0)
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.finish() }
        #expect(server.accepted == 0)
        #expect(try await connection.upload(Self.put(server), size: 0).finish().status == 200)
        #expect(server.accepted == 1)
    }

    /// The kernel's buffers take some MiB.
    @Test func serverThatReadsNothingStopsTheWriterAndEndsTheUpload() async throws {
        let release = DispatchSemaphore(value: 0)
        let server = try RawServer { peer in
            _ = try peer.head()
            try release.waitForSignal()
        }
        defer {
            release.signal()
            server.stop()
        }
        let upload = Self.impatient().upload(Self.put(server), size: 256 << 20)
        var written = 0
        do {
            while written < 255 {
                try await upload.write([UInt8](repeating: 1, count: 1 << 20))
                written += 1
            }
        } catch {
            guard case TransferFailure.connection(let reason) = error else { throw error }
            #expect(reason.contains("nothing"))
        }
        #expect(written < 64)
    }

    @Test func uploadThatWaitsForItsCallerIsNotStalled() async throws {
        let server = try RawServer { peer in
            _ = try peer.head()
            if peer.body(6).count == 6 { try peer.send(Self.response) }
        }
        defer { server.stop() }
        let upload = Self.impatient().upload(Self.put(server), size: 6)
        try await Self.outlastStall()
        try await upload.write([1, 2, 3])
        try await Self.outlastStall()
        try await upload.write([4, 5, 6])
        #expect(try await upload.finish().status == 200)
    }

    /// A server never gets a whole body of an upload that was not finished, even if all bytes were written.
    @Test(arguments: [0, 1, 99, 100]) func canceledUploadIsNeverComplete(written: Int) async throws {
        let (bodies, body) = AsyncStream<Int>.makeStream()
        let server = try RawServer { peer in
            // The connection may end before the request begins.
            body.yield((try? peer.head()) == nil ? 0 : peer.body(100).count)
        }
        defer { server.stop() }
        let upload = HTTPConnection().upload(Self.put(server), size: 100)
        try await upload.write([UInt8](repeating: 1, count: written))
        // Until the connection exists.
        try waitUntil { server.accepted == 1 }
        upload.cancel()
        await #expect(throws: CancellationError.self) { try await upload.finish() }
        let count = await bodies.first { _ in true }
        if let count { #expect(count < 100) }
        await #expect(throws: CancellationError.self) { try await upload.write([1]) }
    }

    @Test func uploadOfAnotherSizeIsNeverComplete() async throws {
        let (bodies, body) = AsyncStream<Int>.makeStream()
        let server = try RawServer { peer in
            // The connection may end before the request begins.
            body.yield((try? peer.head()) == nil ? 0 : peer.body(100).count)
        }
        defer { server.stop() }
        let short = HTTPConnection().upload(Self.put(server), size: 100)
        try await short.write([UInt8](repeating: 1, count: 99))
        try waitUntil { server.accepted == 1 }
        await #expect(throws: HTTPUpload.Failure.size(declared: 100, written: 99)) { try await short.finish() }
        let long = HTTPConnection().upload(Self.put(server), size: 100)
        try await long.write([UInt8](repeating: 1, count: 100))
        try waitUntil { server.accepted == 2 }
        await #expect(throws: HTTPUpload.Failure.size(declared: 100, written: 101)) { try await long.write([1]) }
        await #expect(throws: (any Error).self) { try await long.finish() }
        var iterator = bodies.makeAsyncIterator()
        for _ in 0..<2 { #expect(try #require(await iterator.next()) < 100) }
    }

    /// libcurl does not end a transfer by itself that waits for bytes of its caller.
    @Test(arguments: [true, false]) func refusalBeforeTheEndOfTheBodyIsReturned(closes: Bool) async throws {
        let answered = DispatchSemaphore(value: 0)
        let server = try RawServer { peer in
            _ = try peer.head()
            _ = peer.body(1)
            let end = closes ? "Connection: close\r\n" : ""
            try peer.send("HTTP/1.1 403 Forbidden\r\n\(end)Content-Length: 2\r\n\r\nno")
            try answered.waitForSignal()
        }
        defer {
            answered.signal()
            server.stop()
        }
        let upload = HTTPConnection().upload(Self.put(server), size: 1 << 30)
        try await upload.write([1])
        await #expect(throws: HTTPUpload.Failure.answered) {
            while true { try await upload.write([UInt8](repeating: 1, count: 1 << 20)) }
        }
        let reply = try await upload.finish()
        #expect(reply.status == 403)
        #expect(reply.body == Array("no".utf8))
    }

    @Test func acceptanceBeforeTheEndOfTheBodyIsAFailure() async throws {
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        }
        defer { server.stop() }
        let upload = HTTPConnection().upload(Self.put(server), size: 1 << 30)
        await #expect(throws: TransferFailure.self) {
            while true { try await upload.write([UInt8](repeating: 1, count: 1 << 20)) }
        }
        await #expect(throws: TransferFailure.self) { try await upload.finish() }
    }

    @Test func uploadIsSentOnceDespiteRedirectsAndLostConnections() async throws {
        let requests = Ended()
        let server = try RawServer { peer in
            while let head = try? peer.head() {
                requests.count()
                _ = peer.body(3)
                guard !head.contains("/close") else { return }
                try peer.send("HTTP/1.1 307 Temporary Redirect\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n")
            }
        }
        defer { server.stop() }
        let connection = HTTPConnection()
        func send(_ path: String) async throws -> Int {
            let upload = connection.upload(HTTPRequest("PUT", server.url + path), size: 3)
            try await upload.write([1, 2, 3])
            return try await upload.finish().status
        }
        #expect(try await send("/x") == 307)
        await #expect(throws: TransferFailure.self) { try await send("/close") }
        #expect(requests.value == 2)
    }

    // MARK: Downloads

    @Test func downloadIsReadInPieces() async throws {
        let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let server = try RawServer { peer in
            while (try? peer.head()) != nil {
                try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\nX-A: b\r\n\r\n")
                try peer.send(bytes)
            }
        }
        defer { server.stop() }
        let connection = HTTPConnection()
        let download = try await connection.download(HTTPRequest("GET", server.url))
        #expect(download.status == 200)
        #expect(download.fields["x-a"] == "b")
        var received: [UInt8] = []
        while true {
            let piece = try await download.read()
            guard !piece.isEmpty else { break }
            received += piece
        }
        #expect(received == bytes)
        #expect(try await download.read().isEmpty)
        let all = Lock<[UInt8]>([])
        let thread = TestThread {
            do {
                let download = try connection.downloadBlocking(HTTPRequest("GET", server.url))
                let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 1)
                defer { block.deallocate() }
                while true {
                    let count = try download.readBlocking(into: block)
                    guard count > 0 else { break }
                    all.withLock { $0 += block[..<count] }
                }
            } catch {
                Issue.record(error)
            }
        }
        try thread.join()
        #expect(all.withLock { $0 } == bytes)
        #expect(server.accepted == 1)
    }

    /// Reads the rest of a body with buffers of that size.
    private static func all(of download: HTTPDownload, by count: Int) throws -> [UInt8] {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { block.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = try download.readBlocking(into: block)
            guard count > 0 else { return bytes }
            bytes += block[..<count]
        }
    }

    private static func begin(
        _ url: String, _ connection: HTTPConnection, _ reader: HTTPBodyReader
    ) -> Task<HTTPDownload, any Error> {
        BlockingCall.start { try await connection.download(HTTPRequest("GET", url), by: reader) }
    }

    /// The second request is sent, and its response begins, while the first body is read.
    @Test(arguments: [1000, 100_000, 1 << 20]) func readerReceivesBodiesItself(size: Int) throws {
        let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let server = try RawServer { peer in
            while (try? peer.head()) != nil {
                try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n")
                try peer.send(bytes)
            }
        }
        defer { server.stop() }
        var options = HTTPConnection.Options()
        options.maximumExchanges = 2
        let connection = HTTPConnection(options)
        for _ in 0..<2 {
            try TestThread {
                do {
                    let reader = connection.makeReader()
                    let first = try reader.result(of: Self.begin(server.url, connection, reader))
                    let second = Self.begin(server.url, connection, reader)
                    #expect(try Self.all(of: first, by: size) == bytes)
                    #expect(try Self.all(of: reader.result(of: second), by: size) == bytes)
                } catch {
                    Issue.record(error)
                }
            }.join()
        }
        // The next reader has the connections of the one before.
        #expect(server.accepted == 2)
        #expect(connection.exchanges == 0)
    }

    /// Returns a server that sends 256 MiB.
    ///
    /// - Parameter sent: counts each MiB.
    private static func large(_ sent: Ended) throws -> RawServer {
        try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(256 << 20)\r\n\r\n")
            for _ in 0..<256 {
                try peer.send([UInt8](repeating: 1, count: 1 << 20))
                sent.count()
            }
        }
    }

    @Test func readerThatDoesNotReadStopsTheServerAndIsNotStalled() throws {
        let sent = Ended()
        let server = try Self.large(sent)
        defer { server.stop() }
        let connection = Self.impatient()
        let reader = connection.makeReader()
        let download = try reader.result(of: Self.begin(server.url, connection, reader))
        try BlockingCall.run { try await Self.outlastStall() }
        #expect(sent.value < 64)
        #expect(try Self.all(of: download, by: 1 << 17).count == 256 << 20)
    }

    @Test func readerEndsDownloadOfServerThatStopsSending() throws {
        let release = DispatchSemaphore(value: 0)
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            try release.waitForSignal()
        }
        defer {
            release.signal()
            server.stop()
        }
        let connection = Self.impatient()
        let reader = connection.makeReader()
        let download = try reader.result(of: Self.begin(server.url, connection, reader))
        #expect(throws: TransferFailure.self) { try Self.all(of: download, by: 100) }
        #expect(throws: TransferFailure.self) {
            let silent = try RawServer(nil)
            defer { silent.stop() }
            _ = try reader.result(of: Self.begin(silent.url, connection, reader))
        }
    }

    /// Another one may wait for its turn.
    @Test(arguments: [true, false]) func droppedDownloadOfReaderEndsAtOnce(cancels: Bool) throws {
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            _ = peer.body(1)
        }
        defer { server.stop() }
        let connection = Self.impatient(.seconds(3600))
        let reader = connection.makeReader()
        do {
            let download = try reader.result(of: Self.begin(server.url, connection, reader))
            #expect(connection.exchanges == 1)
            if cancels {
                download.cancel()
                #expect(throws: CancellationError.self) { try Self.all(of: download, by: 100) }
            }
        }
        #expect(connection.exchanges == 0)
        let other = connection.makeReader()
        #expect(try other.result(of: Self.begin(server.url, connection, other)).status == 200)
    }

    @Test func readerThatWaitsStopsTheServerAndIsNotStalled() async throws {
        let sent = Ended()
        let server = try Self.large(sent)
        defer { server.stop() }
        let download = try await Self.impatient().download(HTTPRequest("GET", server.url))
        try await Self.outlastStall()
        #expect(sent.value < 64)
        var count = try await download.read().count
        try await Self.outlastStall()
        #expect(sent.value < 64)
        while true {
            let piece = try await download.read()
            #expect(piece.count <= 128 << 10)
            guard !piece.isEmpty else { break }
            count += piece.count
        }
        #expect(count == 256 << 20)
    }

    @Test(arguments: ["Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"])
    func shortBodyIsAFailure(response: String) async throws {
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\n" + response)
        }
        defer { server.stop() }
        let download = try await HTTPConnection().download(HTTPRequest("GET", server.url))
        var received: [UInt8] = []
        await #expect(throws: TransferFailure.self) {
            while true {
                let piece = try await download.read()
                guard !piece.isEmpty else { return }
                received += piece
            }
        }
        #expect(received == Array("12345".utf8))
    }

    @Test func serverThatStopsSendingEndsTheDownload() async throws {
        let release = DispatchSemaphore(value: 0)
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            try release.waitForSignal()
        }
        defer {
            release.signal()
            server.stop()
        }
        let download = try await Self.impatient().download(HTTPRequest("GET", server.url))
        await #expect(throws: TransferFailure.self) {
            while try await !download.read().isEmpty {}
        }
    }

    @Test(arguments: [true, false]) func droppedDownloadClosesItsConnection(cancels: Bool) async throws {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            _ = peer.body(1)
            end.yield()
        }
        defer { server.stop() }
        let connection = Self.impatient(.seconds(3600))
        do {
            let download = try await connection.download(HTTPRequest("GET", server.url))
            _ = try await download.read()
            if cancels {
                download.cancel()
                await #expect(throws: CancellationError.self) { try await download.read() }
            }
        }
        for await _ in ends { break }
    }
}
