import Basics
import Glibc

/// Reads a body of the type `multipart/form-data` (RFC 7578; the framing is that of RFC 2046, section 5.1.1) as it arrives. It holds
/// no more than the last piece, and one header section or the bytes that may begin a boundary.
package struct MultipartReader: Sendable {
    package enum Event: Sendable, Equatable {
        /// A part begins.
        case part(MultipartPart)
        /// The next bytes of the part's contents; not empty.
        case bytes([UInt8])
        /// The last byte of the part was passed on.
        case endOfPart
        /// The form is complete. What follows is passed over.
        case end
    }

    private enum State {
        case preamble
        /// Behind a delimiter, in its line.
        case boundary
        /// At the line break that ends a boundary's line.
        case header
        case contents
        /// The part's contents have ended at a delimiter.
        case contentsEnded
        case done
    }

    /// The largest boundary, in characters (RFC 2046, section 5.1.1).
    package static let maximumBoundary = 70
    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let dashes: [UInt8] = [0x2D, 0x2D]

    private let delimiter: [UInt8]
    private let headerLimit: Int
    private var state = State.preamble
    /// The bytes that arrived. The first boundary may be the first line, so there is a line break in front.
    private var waiting = Self.lineEnd
    /// The place up to which `waiting` was read, and up to which it was also searched.
    private var place = 0
    private var searched = 0

    /// - Parameters:
    ///   - boundary: as ``boundary(_:)`` returns it.
    ///   - headerLimit: the largest header section of a part, in bytes.
    package init(boundary: [UInt8], headerLimit: Int) {
        delimiter = Self.lineEnd + Self.dashes + boundary
        self.headerLimit = headerLimit
    }

    /// Returns the boundary in a content type; `nil` if the type is not multipart/form-data, or the boundary is invalid.
    package static func boundary(_ contentType: String) -> [UInt8]? {
        let parameters = HeaderParameters(contentType)
        guard parameters.value.lowercased() == "multipart/form-data", let boundary = parameters["boundary"] else {
            return nil
        }
        let bytes = Array(boundary.utf8)
        guard (1...maximumBoundary).contains(bytes.count), bytes.allSatisfy(isOfBoundary), bytes.last != 0x20 else {
            return nil
        }
        return bytes
    }

    private static func isOfBoundary(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "'()+_,-./:=? ".utf8.contains(byte)
    }

    /// Whether the first boundary was found.
    package var hasBegun: Bool {
        if case .preamble = state { false } else { true }
    }

    // MARK: Reading

    /// Adds the next bytes of the body, after which ``next()`` returns what they contain.
    package mutating func append(_ piece: UnsafeRawBufferPointer) {
        if case .done = state { return }
        waiting.removeFirst(place)
        searched = max(0, searched - place)
        place = 0
        waiting += piece
    }

    /// - Returns: `nil` until more of the body arrives, and at its end.
    package mutating func next() throws(MultipartError) -> Event? {
        while true {
            switch state {
            case .preamble:
                guard let start = find(delimiter) else {
                    place = max(place, waiting.count - delimiter.count + 1)
                    return nil
                }
                pass(to: start + delimiter.count, .boundary)
            case .boundary:
                guard try passLine() else { return nil }
                if case .done = state { return .end }
            case .header:
                guard let header = try header() else { return nil }
                return .part(try MultipartPart(header))
            case .contents:
                if let event = contents() { return event }
                guard case .contentsEnded = state else { return nil }
            case .contentsEnded:
                pass(to: place + delimiter.count, .boundary)
                return .endOfPart
            case .done: return nil
            }
        }
    }

    private mutating func pass(to end: Int, _ next: State) {
        (place, searched, state) = (end, end, next)
    }

    /// Passes the rest of a boundary's line, which may have blanks.
    ///
    /// - Returns: whether it has arrived.
    private mutating func passLine() throws(MultipartError) -> Bool {
        let rest = waiting[place...]
        if rest.starts(with: Self.dashes) {
            (state, waiting, place) = (.done, [], 0)
            return true
        }
        if rest.elementsEqual(Self.dashes.prefix(1)) { return false }
        let end = rest.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? waiting.count
        guard end - place <= headerLimit else { throw .boundary }
        let found = waiting[end...].prefix(2)
        guard found.elementsEqual(Self.lineEnd.prefix(found.count)) else { throw .boundary }
        guard found.count == 2 else { return false }
        pass(to: end, .header)
        return true
    }

    /// Returns the lines of a header section; `nil` until it has arrived.
    private mutating func header() throws(MultipartError) -> ArraySlice<UInt8>? {
        let end = find(Self.lineEnd + Self.lineEnd)
        guard (end ?? waiting.count) - place <= headerLimit else { throw .headerTooLong }
        guard let end else { return nil }
        let header = waiting[min(place + 2, end)..<end]
        pass(to: end + 4, .contents)
        return header
    }

    /// Returns the next bytes of a part; `nil` until more arrives, and at its end.
    private mutating func contents() -> Event? {
        let start = place
        if let end = find(delimiter) {
            pass(to: end, .contentsEnded)
        } else {
            // Bytes that may begin a boundary wait for the rest.
            place = max(place, waiting.count - delimiter.count + 1)
        }
        return start < place ? .bytes(Array(waiting[start..<place])) : nil
    }

    /// Returns the first place of `pattern`, which begins with a carriage return. What was searched is not searched again.
    private mutating func find(_ pattern: [UInt8]) -> Int? {
        var next = max(searched, place)
        let found = waiting.withUnsafeBytes { bytes -> Int? in
            while next + pattern.count <= bytes.count {
                guard let start = bytes.baseAddress,
                    let match = memchr(start + next, 0x0D, bytes.count - pattern.count + 1 - next)
                else {
                    next = bytes.count - pattern.count + 1
                    return nil
                }
                next = UnsafeRawPointer(match) - start
                if bytes[next..<next + pattern.count].elementsEqual(pattern) { return next }
                next += 1
            }
            return nil
        }
        searched = next
        return found
    }
}
