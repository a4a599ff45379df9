import StoreProtocol

/// Passes a body to a sink that may block, in pieces as they arrive, on the caller's thread: nothing that another body needs is held
/// while the sink waits. Of the arrived bytes, at most ``BodyPipeline/pieceSize`` are kept back.
final class PieceFlow: BodyFlow {
    private let sink: (any BodySink)?
    private let permit: BodyPipeline.Permit
    private var digest: BodyDigest
    /// The latest bytes.
    private var kept: [UInt8] = []

    init(_ checks: BodyChecks, into sink: (any BodySink)?, _ permit: @escaping BodyPipeline.Permit) {
        self.sink = sink
        self.permit = permit
        digest = BodyDigest(checks)
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        digest.update(bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            try passKept()
            let piece = rest.prefix(BodyPipeline.pieceSize)
            kept += piece
            rest = rest.dropFirst(piece.count)
        }
    }

    func finish() throws -> BodyDigest.Stored {
        let stored = try digest.finalize()
        try passKept()
        return stored
    }

    func cancel() { kept = [] }

    private func passKept() throws {
        guard !kept.isEmpty else { return }
        defer { kept.removeAll(keepingCapacity: true) }
        guard let sink else { return }
        // Only asked: a claim that is held for as long as the sink waits could not be revoked.
        try permit {}
        try kept.withUnsafeBytes(sink.append)
    }
}
