/// Finds the heads of the frames in what a connection receives, wherever reads have cut it (RFC 9113, section 4.1).
struct FrameHeads {
    struct Head: Equatable {
        let type: UInt8
        let stream: Int32
        /// Where the frame begins among the bytes at hand; negative when it began before them.
        let start: Int
    }

    static let byteCount = 9

    /// Bytes of the preface, or of a payload, that are still to come.
    private var unseen: Int
    /// A head that was cut.
    private var begun: [UInt8] = []

    /// - Parameter preface: bytes before the first frame.
    init(preface: Int) {
        unseen = preface
    }

    /// - Parameter offset: how far `bytes` was looked at; 0 for new ones.
    /// - Returns: the next head that is whole; `nil` when `bytes` has no more.
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

    private mutating func parse(_ head: UnsafeRawBufferPointer, _ start: Int) -> Head {
        unseen = Int(UInt32(bigEndian: head.loadUnaligned(as: UInt32.self)) >> 8)
        let stream = UInt32(bigEndian: head.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7FFF_FFFF
        return Head(type: head[3], stream: Int32(bitPattern: stream), start: start)
    }
}
