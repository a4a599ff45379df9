/// Splits the bytes of DATA frames into messages, each preceded by a flag byte and four bytes of length.
///
/// Source: gRPC over HTTP/2, "Length-Prefixed-Message". A message that is completely in the received bytes is delivered in place;
/// only a message that is split over several DATA frames is copied. The length is checked before anything is allocated, and memory
/// grows with the bytes received, not with the length that the prefix claims.
public struct MessageDeframer: Sendable {
    public enum Failure: Error, Sendable, Hashable {
        /// The prefix claims more bytes than are allowed.
        case tooLong(claimed: Int, limit: Int)
        /// The flag byte is neither 0 nor 1.
        case badFlag(UInt8)
    }

    /// The largest accepted message, in bytes without the prefix.
    public let limit: Int
    private var gathered: [UInt8] = []

    public init(limit: Int) {
        self.limit = limit
    }

    /// Whether the bytes so far end within a message, which is an error at the end of a stream.
    public var isWithinMessage: Bool { !gathered.isEmpty }

    /// The number of bytes received of an incomplete message, including its prefix.
    public var gatheredBytes: Int { gathered.count }

    /// Calls `deliver` for each complete message; its bytes are valid during the call only.
    public mutating func receive(
        _ bytes: UnsafeRawBufferPointer, deliver: (_ message: UnsafeRawBufferPointer, _ compressed: Bool) -> Void
    ) throws(Failure) {
        var rest = bytes
        if !gathered.isEmpty {
            try fill(to: 5, from: &rest)
            guard gathered.count >= 5 else { return }
            let length = gathered[1..<5].reduce(0) { $0 << 8 | Int($1) }
            let compressed = try check(flag: gathered[0], claimed: length)
            try fill(to: 5 + length, from: &rest)
            guard gathered.count == 5 + length else { return }
            gathered.withUnsafeBytes { deliver(UnsafeRawBufferPointer(rebasing: $0[5...]), compressed) }
            gathered.removeAll(keepingCapacity: false)
        }
        while rest.count >= 5 {
            let length = Int(UInt32(bigEndian: rest.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
            let compressed = try check(flag: rest[0], claimed: length)
            guard rest.count - 5 >= length else { break }
            deliver(UnsafeRawBufferPointer(rebasing: rest[5..<5 + length]), compressed)
            rest = UnsafeRawBufferPointer(rebasing: rest[(5 + length)...])
        }
        if !rest.isEmpty { gathered.append(contentsOf: rest) }
    }

    private mutating func fill(to count: Int, from rest: inout UnsafeRawBufferPointer) throws(Failure) {
        let taken = min(max(0, count - gathered.count), rest.count)
        gathered.append(contentsOf: rest[..<taken])
        rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
    }

    private func check(flag: UInt8, claimed: Int) throws(Failure) -> Bool {
        guard flag <= 1 else { throw .badFlag(flag) }
        guard claimed <= limit else { throw .tooLong(claimed: claimed, limit: limit) }
        return flag == 1
    }
}

/// Writes the five bytes before a message.
public enum MessagePrefix {
    public static let byteCount = 5

    /// - Parameter frame: the message with five free bytes in front of it.
    public static func write(to frame: inout [UInt8], compressed: Bool = false) {
        let length = UInt32(truncatingIfNeeded: frame.count - byteCount)
        frame[0] = compressed ? 1 : 0
        for index in 0..<4 { frame[1 + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index)) }
    }
}
