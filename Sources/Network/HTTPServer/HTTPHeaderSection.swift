import CMicrohttpd
import Glibc
import HTTPTypes

/// The header section of a request from libmicrohttpd, with a check that it is exactly what the client sent.
///
/// The library accepts what other servers refuse or read differently: lines that end with a bare LF, folded lines, and bytes after
/// a NUL, which it drops. It returns pointers into the receive buffer, with delimiters replaced by NULs, so nothing was dropped or
/// changed if each string begins directly after the end of the one before (RFC 9112, sections 2.2, 3 and 5).
struct HTTPHeaderSection {
    /// The library's strings of a request line, at their addresses in the receive buffer.
    struct RequestLine {
        var method: UnsafePointer<CChar>
        var target: UnsafePointer<CChar>
        /// Its length on arrival: the library later cuts it at the query.
        var targetLength: Int
        var version: UnsafePointer<CChar>
    }

    /// The number of bytes of a line end.
    private static let lineEnd: UInt = 2

    private(set) var fields = HTTPFields()
    /// Whether the strings are exactly what was received.
    private(set) var isExact: Bool
    /// The address at which the next line has to begin.
    private var next: UInt

    init(of connection: OpaquePointer, _ line: RequestLine) {
        let start = UInt(bitPattern: line.method)
        let target = UInt(bitPattern: line.target)
        let version = UInt(bitPattern: line.version)
        isExact =
            start + UInt(strlen(line.method)) + 1 == target && target + UInt(line.targetLength) + 1 == version
        next = version + UInt(strlen(line.version)) + Self.lineEnd
        withUnsafeMutablePointer(to: &self) { section in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameSize, value, valueSize in
                    guard let section = context?.assumingMemoryBound(to: HTTPHeaderSection.self) else { return .NO }
                    section.pointee.append(
                        UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameSize),
                        UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize))
                    return .YES
                }, section)
        }
        if next + Self.lineEnd != start + UInt(microhttpd_header_size(connection)) { isExact = false }
    }

    private mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        fields.append(String(decoding: name, as: UTF8.self), Self.trimmed(value))
        let (start, valueStart) = (UInt(bitPattern: name.baseAddress), UInt(bitPattern: value.baseAddress))
        // The colon and white space are between them.
        if start != next || valueStart <= start + UInt(name.count) { isExact = false }
        next = valueStart + UInt(value.count) + Self.lineEnd
    }

    private static func trimmed(_ raw: UnsafeRawBufferPointer) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let start = raw.firstIndex { !isBlank($0) } ?? raw.endIndex
        let end = raw.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        return String(decoding: UnsafeRawBufferPointer(rebasing: raw[start..<end]), as: UTF8.self)
    }
}
