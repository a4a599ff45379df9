import Basics
import Foundation
import HTTPClient
import StoreClient

/// An archive that is being written to a bucket, part by part. A part is in a file of this machine until the store has it.
actor BucketArchiveUpload: ArchiveUpload {
    private let store: StoreClient
    private let multipartID: String
    private let partSize: Int64
    private let retrying: Retrying
    private let spool: String
    private let descriptor: Int32
    private var spooled: Int64 = 0
    private var parts: [StorePart] = []

    /// - Parameter spool: the path of the part's file, which is created and removed.
    init(
        _ store: StoreClient, multipartID: String, partSize: Int64, retrying: Retrying, spool: String
    ) throws {
        self.store = store
        self.multipartID = multipartID
        self.partSize = partSize
        self.retrying = retrying
        self.spool = spool
        descriptor = open(spool, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("create", spool) }
    }

    deinit {
        close(descriptor)
        unlink(spool)
    }

    func receive(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Int(min(partSize - spooled, Int64(rest.count)))))
            try await Worker.disk.run { [descriptor] in try FileSink(descriptor).write(piece) }
            spooled += Int64(piece.count)
            rest = rest.dropFirst(piece.count)
            if spooled == partSize { try await send() }
        }
    }

    func finish() async throws {
        if spooled > 0 { try await send() }
        do {
            try await retrying.run("completion") { [store, multipartID, parts] in
                _ = try await store.complete(multipartID, parts: parts)
            }
        } catch let refusal as StoreRefusal where refusal.code == "NoSuchUpload" {
            // The reply to an earlier attempt may have been lost.
            let size = parts.reduce(0) { $0 + $1.size }
            guard try await store.head()?.size == size else { throw refusal }
        }
    }

    func abandon() async {
        try? await store.abort(multipartID)
    }

    private func send() async throws {
        let number = parts.count + 1
        guard Int64(number) <= PartRange.maximumCount else {
            throw DataDirectory.Problem(
                description: "the archive has more than \(PartRange.maximumCount) parts: raise part_size_bytes")
        }
        let file = try FileReader(spool)
        guard let piece = try await StoreClient.Piece(reading: 0..<spooled, of: file) else {
            throw Self.failure("read", spool)
        }
        let part = try await retrying.run("part \(number)") { [store, multipartID] in
            try await store.put(part: number, of: multipartID, piece) { _ in }
        }
        parts.append(part)
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw Self.failure("empty", spool)
        }
        spooled = 0
    }

    private static func failure(_ verb: String, _ path: String) -> DataDirectory.Problem {
        DataDirectory.Problem.last("cannot \(verb) \(path)")
    }
}
