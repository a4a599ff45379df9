import CMicrohttpd

extension HTTPResponse {
    /// This answer as libmicrohttpd's object, which the caller destroys; nil when it could not be made.
    func native(omittingBody isHead: Bool) -> OpaquePointer? {
        guard let native = isHead ? Self.lengthOnly(contentLength) : body.native else { return nil }
        for field in fields.fields {
            // The library refuses a value that would break out of its line.
            guard MHD_add_response_header(native, field.name, field.value) == .YES else {
                MHD_destroy_response(native)
                return nil
            }
        }
        return native
    }

    private var contentLength: Int64 {
        switch body {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let length), .omitted(let length): length
        }
    }

    /// A response with a length whose body is never asked for: to HEAD and with 304, the library sends the header alone.
    fileprivate static func lengthOnly(_ length: Int64) -> OpaquePointer? {
        MHD_create_response_from_callback(
            UInt64(max(0, length)), 1024, { _, _, _, _ in Int(MHD_CONTENT_READER_END_WITH_ERROR) }, nil, nil)
    }
}

extension HTTPResponse.Body {
    fileprivate var native: OpaquePointer? {
        switch self {
        case .bytes(let bytes):
            return Self.native(bytes)
        case .omitted(let length):
            return HTTPResponse.lengthOnly(length)
        case .file(_, _, length: 0):
            return Self.native([])
        case .file(let file, let offset, let length):
            guard let descriptor = file.take() else { return nil }
            return MHD_create_response_from_fd_at_offset64(UInt64(length), descriptor, UInt64(offset))
        }
    }

    private static func native(_ bytes: [UInt8]) -> OpaquePointer? {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes {
            MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
        }
    }
}
