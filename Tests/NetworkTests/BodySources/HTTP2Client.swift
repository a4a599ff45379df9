import HTTPTestClient
import Wire

/// A client of one HTTP/2 connection on the thread of the test. It reads when the test waits, and opens the windows of flow control
/// only when the test says so.
final class HTTP2Client: HTTP2SessionHost {
    final class Stream: HTTP2Stream {
        private(set) var fields: [String: String] = [:]
        private(set) var body: [UInt8] = []
        /// The code with which the stream was closed; `nil` = it is open.
        private(set) var closeCode: UInt32?
        /// Called with the length of each piece of the body.
        var onData: (Int) -> Void = { _ in }

        override func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
            fields[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
        }

        override func receive(data: UnsafeRawBufferPointer) {
            body.append(contentsOf: data)
            onData(data.count)
        }

        override func closed(code: UInt32) { closeCode = code }
    }

    private let connection: RawConnection
    private var session: HTTP2Session?

    init(port: Int, settings: HTTP2Settings = HTTP2Settings()) throws {
        connection = try RawConnection(port: UInt16(port))
        session = HTTP2Session(role: .client, settings: settings, host: self)
    }

    deinit { session?.abandon() }

    func outputPending() {}

    var now: UInt64 { 1_000_000_000 }

    /// Sends a request without a body.
    func open(_ method: String, _ path: String, _ fields: [(String, String)] = []) throws -> Stream {
        let head = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "h")] + fields
        let stream = Stream()
        _ = session?.open(stream, HeaderBlock(head.map { ($0.0, Array($0.1.utf8)) }), hasBody: false)
        try flush()
        return stream
    }

    /// Exchanges bytes until `isDone`.
    ///
    /// - Throws: ``RawConnection/Failure/ended`` if the peer closes the connection, or sends nothing for five minutes.
    func wait(until isDone: () -> Bool) throws {
        while !isDone() {
            try flush()
            if isDone() { return }
            guard let bytes = try connection.next() else { throw RawConnection.Failure.ended }
            try bytes.withUnsafeBytes { _ = try session?.receive($0) }
        }
        try flush()
    }

    private func flush() throws {
        while let bytes = try session?.nextOutput() { try connection.send(Array(bytes)) }
    }
}
