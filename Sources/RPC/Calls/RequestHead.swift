import Basics
import Crypto
import GRPCWire
import Glibc
import HTTP2

/// The header section of a request, built field by field (gRPC over HTTP/2, "Requests").
package struct RequestHead {
    /// An error of a header section that can be recognised field by field.
    enum Fault {
        case none
        case tooLarge
        case notPost
        case badTimeout
        case encoding
    }

    var method: (any Method)?
    /// The `:path`, kept only if no method has it.
    private(set) var unknownPath = ""
    private(set) var httpMethod = "POST"
    private(set) var isGRPC = false
    /// The content type, kept only if it is not gRPC's.
    private(set) var contentType = ""
    private(set) var takesTrailers = false
    /// The timeout in nanoseconds; `nil` = none.
    var timeout: Int64?
    /// The compression of the client's compressed messages; `nil` = it sends none.
    var encoding: MessageEncoding?
    /// The compressions that the client accepts, in order of preference.
    private(set) var accepted: [MessageEncoding] = []
    private(set) var metadata = Metadata()
    /// The client's request id, if well-formed.
    private(set) var requestID: RequestID?
    private(set) var trace: TraceContext?
    private var hasTrace = false
    var fault = Fault.none
    private var bytes = 0
    private var fields = 0

    package init() {}

    /// Whether the header section is above the limit of bytes or of fields.
    var isTooLarge: Bool { fault == .tooLarge }

    /// - Parameter name: in lower case; the method and the path have HTTP/2's names, which begin with a colon.
    mutating func add(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, server: RPCServer
    ) {
        fields += 1
        // The size as defined for SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113, section 6.5.2).
        bytes += name.count + value.count + 32
        guard bytes <= Int(server.limits.http2.maxHeaderListSize), fields <= server.limits.http2.maxHeaderFields else {
            fault = .tooLarge
            return
        }
        switch name.count {
        case 5 where name.equals(":path"):
            method = server.router.method(value)
            if method == nil { unknownPath = String(decoding: value, as: UTF8.self) }
        case 7 where name.equals(":method"):
            if !value.equals("POST") {
                fault = .notPost
                httpMethod = String(decoding: value, as: UTF8.self)
            }
        case 12 where name.equals("content-type"):
            isGRPC = Self.isGRPC(value)
            if !isGRPC { contentType = String(decoding: value, as: UTF8.self) }
        case 2 where name.equals("te"):
            takesTrailers = value.equals("trailers")
        case 12 where name.equals("grpc-timeout"):
            timeout = GRPCTimeout.parse(value)
            if timeout == nil { fault = .badTimeout }
        case 13 where name.equals("grpc-encoding"):
            encoding = MessageEncoding(rawValue: String(decoding: value.prefix(20), as: UTF8.self))
            if encoding == nil && !value.equals("identity") { fault = .encoding }
        case 20 where name.equals("grpc-accept-encoding"):
            if !value.equals("identity") {
                accepted = MessageEncoding.accepted(String(decoding: value, as: UTF8.self))
            }
        case 12 where name.equals("x-request-id"):
            requestID = RequestID.accepted(value)
        case 11 where name.equals("traceparent"):
            // With two fields, the right one is unknown.
            trace = hasTrace ? nil : TraceContext(traceparent: value)
            hasTrace = true
        case 10 where name.equals(":authority"),
            7 where name.equals(":scheme"), 14 where name.equals("content-length"):
            break
        // The path precedes all fields that have no colon (RFC 9113, section 8.3). The method of a REST call is not known yet.
        case 10 where name.equals("user-agent") && method?.rules.keepsUserAgent == false:
            break
        default:
            metadata.append(name: name, value: value)
        }
    }

    /// Adds a field of text.
    package mutating func add(_ name: String, _ value: String, server: RPCServer) {
        var (name, value) = (name, value)
        name.withUTF8 { name in value.withUTF8 { add(name, $0, server: server) } }
    }

    /// Whether the value is `application/grpc`, possibly followed by `+proto` or parameters. A media type has no case, and blanks may
    /// surround the semicolon (RFC 9110, section 8.3.1).
    private static func isGRPC(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        let media: StaticString = "application/grpc"
        guard value.hasPrefix(media, ignoringCase: true) else { return false }
        var rest = UnsafeBufferPointer(rebasing: value[media.utf8CodeUnitCount...])
        if rest.hasPrefix("+proto", ignoringCase: true) { rest = UnsafeBufferPointer(rebasing: rest.dropFirst(6)) }
        let next = rest.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        return next == nil || next == UInt8(ascii: ";")
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(text)
    }

    /// - Parameter ignoringCase: whether upper-case letters of ASCII equal those of `text`, which has none.
    fileprivate func hasPrefix(_ text: StaticString, ignoringCase: Bool = false) -> Bool {
        guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
        if memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0 { return true }
        guard ignoringCase else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { self[$0].asciiLowercased == text.utf8Start[$0] }
    }
}
