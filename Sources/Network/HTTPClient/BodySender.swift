import Basics

/// The body of an exchange that is passed on in pieces: a file, or one whose transfer is limited or reported.
struct BodySender: Sendable {
    private static let blockSize = 128 << 10

    private let body: HTTPRequest.Body
    private let limit: RateLimit?
    private let sent: (@Sendable (Int) -> Void)?

    /// `nil` if libcurl can take the body as it is.
    init?(_ body: HTTPRequest.Body, limit: RateLimit?, sent: (@Sendable (Int) -> Void)?) {
        switch body {
        case .none: return nil
        case .bytes(let bytes):
            guard limit != nil || sent != nil, !bytes.isEmpty else { return nil }
        case .ranged: break
        }
        self.body = body
        self.limit = limit
        self.sent = sent
    }

    /// Writes the body; returns when the exchange has ended, also if it ended before.
    func send(to transfer: Transfer) async throws {
        var offset: Int64 = 0
        var reported: Int64 = 0
        while offset < body.size, !transfer.isOver {
            var count = Int(min(Int64(Self.blockSize), body.size - offset))
            if let limit { count = await limit.take(count) { transfer.isOver } }
            let (start, size, taken, known) = (offset, count, transfer.taken, reported)
            let block = try await Worker.disk.run {
                if taken > known { sent?(Int(taken - known)) }
                return try read(start, size)
            }
            reported = taken
            guard !block.isEmpty else {
                throw TransferFailure.connection("the file became shorter while it was sent")
            }
            // The exchange's end is reported by the other task.
            guard (try? await transfer.write(block)) != nil else { break }
            offset += Int64(block.count)
        }
        if offset == body.size { transfer.complete() }
        _ = try? await transfer.reply()
        let rest = Int(transfer.taken - reported)
        if rest > 0, let sent { await Worker.disk.run { sent(rest) } }
    }

    /// Reads bytes; fewer at the end of a file that became shorter.
    private func read(_ offset: Int64, _ count: Int) throws -> [UInt8] {
        switch body {
        case .none: return []
        case .bytes(let bytes): return Array(bytes[Int(offset)...].prefix(count))
        case .ranged(let bytes, let range):
            return try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = try bytes.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]),
                    at: range.lowerBound + offset)
            }
        }
    }
}
