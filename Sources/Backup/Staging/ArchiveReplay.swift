/// An input whose first bytes can be read a second time.
final class ArchiveReplay: ArchiveSource {
    /// The number of bytes that can be read again.
    private static let limit = 64

    private let source: any ArchiveSource
    private var start: [UInt8] = []
    private var again: ArraySlice<UInt8> = []

    init(_ source: any ArchiveSource) {
        self.source = source
    }

    /// Begins again at the first byte; at most 64 bytes may have been read.
    func rewind() { again = start[...] }

    func read(_ count: Int) throws -> [UInt8] {
        let repeated = Array(again.prefix(count))
        again = again.dropFirst(repeated.count)
        guard repeated.count < count else { return repeated }
        let fresh = try source.read(count - repeated.count)
        start += fresh.prefix(max(0, Self.limit - start.count))
        return repeated + fresh
    }
}
