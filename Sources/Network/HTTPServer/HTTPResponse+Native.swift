import CMicrohttpd
import Glibc
import HTTPTypes

extension HTTPResponse {
    /// Makes libmicrohttpd's object for this response, which the caller destroys; `nil` if that fails.
    ///
    /// - Parameters:
    ///   - connection: the connection of the response; waiting for the body's source does not count as the client's time.
    ///   - isDirect: whether the body is sent past the library, which may be if ``Body/hasFiles`` and there is no TLS.
    func native(
        omittingBody isHead: Bool, isSecure: Bool, connection: DaemonConnection, isDirect: Bool
    ) -> OpaquePointer? {
        let made =
            isHead
            ? Self.lengthOnly(contentLength)
            : body.native(isSecure: isSecure, connection: connection, isDirect: isDirect)
        guard let native = made else { return nil }
        for field in fields.fields {
            // The library rejects an empty value; blanks around a value do not belong to it (RFC 9110, section 5.5). It also rejects a
            // value that would break out of its line.
            let value = field.value.isEmpty ? " " : field.value
            guard MHD_add_response_header(native, Self.spelling(of: field.name), value) == .YES else {
                MHD_destroy_response(native)
                return nil
            }
        }
        return native
    }

    /// Returns the name that is sent. Foundation's client on Linux compares `Set-Cookie` with regard to case, unlike RFC 9110, section
    /// 5.1, and keeps no cookie of another spelling.
    private static func spelling(of name: String) -> String { name == "set-cookie" ? "Set-Cookie" : name }

    private var contentLength: Int64 {
        switch body {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let length), .omitted(let length): length
        case .stream(_, let length): length ?? 0
        }
    }

    /// The length of the body after the header; unknown for a stream.
    var bodyLength: Int64 {
        if case .omitted = body { 0 } else { contentLength }
    }

    /// Makes a response with a length whose body is never read: to HEAD and with 304, the library sends only the header.
    fileprivate static func lengthOnly(_ length: Int64) -> OpaquePointer? {
        MHD_create_response_from_callback(
            UInt64(max(0, length)), 1024, { _, _, _, _ in Int(MHD_CONTENT_READER_END_WITH_ERROR) }, nil, nil)
    }
}

extension HTTPResponse.Body {
    /// Whether the body has a known length, and a source with files.
    var hasFiles: Bool {
        guard case .stream(let source, let length?) = self else { return false }
        return length > 0 && source.hasFiles
    }

    fileprivate func native(isSecure: Bool, connection: DaemonConnection, isDirect: Bool) -> OpaquePointer? {
        switch self {
        case .bytes(let bytes):
            return Self.native(bytes)
        case .omitted(let length):
            return HTTPResponse.lengthOnly(length)
        case .stream(let source, let length):
            return Self.native(HTTPBodySourceBox(source, length: length, connection, isDirect: isDirect))
        case .file(_, _, length: 0):
            return Self.native([])
        case .file(let file, let offset, let length):
            guard let descriptor = file.take() else { return nil }
            if isSecure { return Self.reader(of: descriptor, from: offset, length: length) }
            return MHD_create_response_from_fd_at_offset64(UInt64(length), descriptor, UInt64(offset))
        }
    }

    /// Makes a reader for a file over TLS, where the kernel cannot send it and the library's own reader takes 4 KiB at a time.
    private static func reader(of descriptor: Int32, from offset: Int64, length: Int64) -> OpaquePointer? {
        let reader = Unmanaged.passRetained(FileReader(descriptor, from: offset))
        let response = MHD_create_response_from_callback(
            UInt64(length), FileReader.blockSize,
            { context, position, block, size in
                guard let context, let block else { return Int(MHD_CONTENT_READER_END_WITH_ERROR) }
                return Unmanaged<FileReader>.fromOpaque(context).takeUnretainedValue().read(
                    UnsafeMutableRawBufferPointer(start: block, count: size), at: position)
            }, reader.toOpaque(), { $0.map { Unmanaged<FileReader>.fromOpaque($0).release() } })
        if response == nil { reader.release() }
        return response
    }

    private static func native(_ box: HTTPBodySourceBox) -> OpaquePointer? {
        let unknownLength = UInt64(bitPattern: -1)
        return MHD_create_response_from_callback(
            box.length.map { UInt64(max(0, $0)) } ?? unknownLength, box.length == nil ? 16 << 10 : FileReader.blockSize,
            { context, _, block, size in
                guard let context, let block else { return Int(MHD_CONTENT_READER_END_WITH_ERROR) }
                let box = Unmanaged<HTTPBodySourceBox>.fromOpaque(context).takeUnretainedValue()
                return box.read(into: UnsafeMutableRawBufferPointer(start: block, count: size))
            },
            Unmanaged.passRetained(box).toOpaque(),
            { context in
                guard let context else { return }
                Unmanaged<HTTPBodySourceBox>.fromOpaque(context).takeRetainedValue().source.close()
            })
    }

    private static func native(_ bytes: [UInt8]) -> OpaquePointer? {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes {
            MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
        }
    }
}

/// Holds any source in a class, so that a pointer can refer to it.
private final class HTTPBodySourceBox {
    let source: any HTTPBodySource
    let length: Int64?
    private let connection: DaemonConnection
    private let isDirect: Bool

    /// Prepares to read a source.
    ///
    /// - Parameter isDirect: whether the body is sent past the library.
    init(_ source: any HTTPBodySource, length: Int64?, _ connection: DaemonConnection, isDirect: Bool) {
        self.source = source
        self.length = length
        self.connection = connection
        self.isDirect = isDirect
    }

    /// Returns the number of bytes read, or the library's code for the end or an error.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if isDirect { return sendAll(through: buffer) }
        guard let count = next(in: buffer)?.count else { return Int(MHD_CONTENT_READER_END_WITH_ERROR) }
        if count > 0 { return count }
        // The library asks for no byte after the length.
        return length == nil ? Int(MHD_CONTENT_READER_END_OF_STREAM) : Int(MHD_CONTENT_READER_END_WITH_ERROR)
    }

    /// Sends the whole body past the library, which has sent the header section, and closes the connection after either code.
    private func sendAll(through buffer: UnsafeMutableRawBufferPointer) -> Int {
        var left = length ?? 0
        while left > 0 {
            guard let piece = next(in: buffer), (1...left).contains(Int64(piece.count)) else {
                return Int(MHD_CONTENT_READER_END_WITH_ERROR)
            }
            switch connection.send(piece, through: buffer) {
            case .sent: left -= Int64(piece.count)
            case .disconnected: return Int(MHD_CONTENT_READER_END_WITH_ERROR)
            case .unreadable:
                source.fileFailed()
                return Int(MHD_CONTENT_READER_END_WITH_ERROR)
            }
        }
        guard connection.finishSending() else { return Int(MHD_CONTENT_READER_END_WITH_ERROR) }
        connection.hasSentBody = true
        return Int(MHD_CONTENT_READER_END_OF_STREAM)
    }

    private func next(in buffer: UnsafeMutableRawBufferPointer) -> HTTPBodyPiece? {
        connection.enter(.busy)
        defer { connection.enter(.moving) }
        return source.read(into: buffer, passesFiles: isDirect)
    }
}

/// Reads a file's bytes for libmicrohttpd to encrypt; closes the file at the end.
private final class FileReader {
    static let blockSize = 256 << 10

    private let descriptor: Int32
    private let offset: Int64

    init(_ descriptor: Int32, from offset: Int64) {
        self.descriptor = descriptor
        self.offset = offset
    }

    deinit {
        close(descriptor)
    }

    /// Returns the number of bytes read, or the library's code for the end or an error.
    func read(_ block: UnsafeMutableRawBufferPointer, at position: UInt64) -> Int {
        while true {
            let count = pread(descriptor, block.baseAddress, block.count, Int(offset) + Int(position))
            if count > 0 { return count }
            guard count < 0, errno == EINTR else { return Int(MHD_CONTENT_READER_END_WITH_ERROR) }
        }
    }
}
