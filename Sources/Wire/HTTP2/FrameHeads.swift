/// Finds the frame headers in the bytes of a connection, wherever reads have split them (RFC 9113, section 4.1).
struct FrameHeads {
    struct Head: Equatable {
        let type: UInt8
        let stream: Int32
        /// The offset of the frame in the current bytes; negative if it began before them.
        let start: Int
    }

    static let byteCount = 9

    /// The bytes of the preface, or of a payload, that are still to come.
    private var unseen: Int
    /// The first part of a header that was split.
    private var begun: [UInt8] = []

    /// - Parameter preface: the number of bytes before the first frame.
    init(preface: Int) {
        unseen = preface
    }

    /// - Parameter offset: the position up to which `bytes` was examined; 0 for new bytes.
    /// - Returns: the next complete header; `nil` if `bytes` has no more.
    mutating func next(in bytes: UnsafeRawBufferPointer, at offset: inout Int) -> Head? {
        let passed = min(unseen, bytes.count - offset)
        unseen -= passed
        offset += passed
        let start = offset - begun.count
        let taken = min(Self.byteCount - begun.count, bytes.count - offset)
        let fresh = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + taken])
        offset += taken
        if taken == Self.byteCount { return parse(fresh, start) }
        begun.append(contentsOf: fresh)
        guard begun.count == Self.byteCount else { return nil }
        defer { begun.removeAll(keepingCapacity: true) }
        return begun.withUnsafeBytes { parse($0, start) }
    }

    /// Forgets the header that `next` returned last, so that it is found again at the start of the next bytes.
    mutating func rewind() {
        unseen = 0
        begun.removeAll(keepingCapacity: true)
    }

    private mutating func parse(_ head: UnsafeRawBufferPointer, _ start: Int) -> Head {
        unseen = Int(UInt32(bigEndian: head.loadUnaligned(as: UInt32.self)) >> 8)
        let stream = UInt32(bigEndian: head.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7FFF_FFFF
        return Head(type: head[3], stream: Int32(bitPattern: stream), start: start)
    }
}
