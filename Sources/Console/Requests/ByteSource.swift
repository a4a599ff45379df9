import HTTPTypes

/// Reads what a response's body gives, in pieces of the reader's choice.
struct ByteSource {
    private static let pieceSize = 64 * 1024

    private let source: any HTTPBodySource
    /// Taken from the source, and not by the reader yet.
    private var piece: ArraySlice<UInt8> = []

    init(_ source: any HTTPBodySource) {
        self.source = source
    }

    /// Exactly so many bytes; `nil` where the body ends or breaks off before.
    mutating func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            if piece.isEmpty { piece = nextPiece() ?? [] }
            if piece.isEmpty { return nil }
            let taken = piece.prefix(count - bytes.count)
            bytes += taken
            piece = piece.dropFirst(taken.count)
        }
        return bytes
    }

    /// All that is left, at most `limit` bytes; `nil` where it is longer, or breaks off.
    mutating func readToEnd(limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let next = nextPiece(), bytes.count + next.count <= limit {
            if next.isEmpty { return bytes }
            bytes += next
        }
        return nil
    }

    /// Empty at the end, `nil` where it breaks off.
    private func nextPiece() -> ArraySlice<UInt8>? {
        var count: Int?
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, filled in
            count = source.read(into: UnsafeMutableRawBufferPointer(buffer))
            filled = count ?? 0
        }
        return count == nil ? nil : bytes[...]
    }
}
