import Glibc

/// A TCP connection that sends exactly the bytes of a test, and parses HTTP/1.1 responses strictly.
public final class RawConnection {
    public struct Response: Sendable {
        public let status: Int
        /// The fields by lower-case name.
        public let fields: [String: String]
        public let body: [UInt8]

        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    public enum Failure: Error {
        case connect(errno: Int32)
        case send(errno: Int32)
        /// The peer closed the connection, or sent nothing for five minutes.
        case ended
        case malformed(String)
    }

    private let socket: Int32
    private var held: [UInt8] = []

    /// - Parameter receiveBuffer: the size of the kernel's buffer of received bytes; `nil` = it grows as needed.
    public init(host: String = "127.0.0.1", port: UInt16, receiveBuffer: Int32? = nil) throws {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else { throw Failure.connect(errno: 0) }
        defer { freeaddrinfo(found) }
        socket = Glibc.socket(found.pointee.ai_family, found.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        // On a busy machine a server may wait minutes for a processor.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            // Before the connection, whose window depends on it.
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        guard connect(socket, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
            throw Failure.connect(errno: errno)
        }
    }

    deinit {
        close(socket)
    }

    public func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    public func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.send(errno: errno) }
            sent += count
        }
    }

    /// Reads the next response; `toHead` means that no body follows, because the request was HEAD.
    public func response(toHead: Bool = false) throws -> Response {
        let head = try line(until: "\r\n\r\n")
        let lines = head.split(separator: "\r\n").map(String.init)
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw Failure.malformed(head) }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Failure.malformed(line) }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmed
        }
        let hasBody = !toHead && status >= 200 && status != 204 && status != 304
        let length = hasBody ? Int(fields["content-length"] ?? "0") ?? 0 : 0
        while held.count < length {
            try receive()
        }
        let body = Array(held.prefix(length))
        held.removeFirst(length)
        return Response(status: status, fields: fields, body: body)
    }

    /// Reads the body of a chunked response, after its header.
    public func chunkedBody() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let size = try line(until: "\r\n")
            guard let count = Int(size, radix: 16) else { throw Failure.malformed(size) }
            while held.count < count + 2 { try receive() }
            body += held.prefix(count)
            held.removeFirst(count + 2)
            if count == 0 { return body }
        }
    }

    /// Reads this number of bytes.
    public func body(_ count: Int) throws -> [UInt8] {
        while held.count < count { try receive() }
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    /// Returns all bytes until the peer closes the connection.
    ///
    /// - Throws: ``Failure/ended`` if it is still open after five minutes without a byte.
    public func rest() throws -> [UInt8] {
        var rest: [UInt8] = []
        while let some = try next() { rest += some }
        return rest
    }

    /// Returns the next received bytes; `nil` if the peer has closed the connection.
    ///
    /// - Throws: ``Failure/ended`` if nothing arrives within five minutes.
    public func next() throws -> [UInt8]? {
        if !held.isEmpty {
            defer { held = [] }
            return held
        }
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &piece, piece.count, 0)
        guard count >= 0 || errno == ECONNRESET else { throw Failure.ended }
        return count > 0 ? Array(piece[..<count]) : nil
    }

    /// Lets the end of this connection reset it instead of closing it in order.
    public func resetAtEnd() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Whether the peer has closed the connection, or does so within five minutes, and nothing is left to read.
    public func isClosed() -> Bool {
        do {
            guard held.isEmpty else { return false }
            try receive()
            return false
        } catch {
            return true
        }
    }

    private func line(until end: String) throws -> String {
        let end = Array(end.utf8)
        var scanned = 0
        while true {
            while scanned + end.count <= held.count {
                if held[scanned..<(scanned + end.count)].elementsEqual(end) {
                    let text = String(decoding: held[..<scanned], as: UTF8.self)
                    held.removeFirst(scanned + end.count)
                    return text
                }
                scanned += 1
            }
            try receive()
        }
    }

    private func receive() throws {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &piece, piece.count, 0)
        guard count > 0 else { throw Failure.ended }
        held.append(contentsOf: piece[..<count])
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
