import TestSupport
import Testing
import Wire

@testable import RPC

/// The body of a form, of which a part waits in a file.
@Suite(.timeLimited) struct SpooledBodyTests {
    private func receive(_ bytes: [UInt8], by size: Int, _ body: SpooledBody) throws {
        for start in stride(from: 0, to: bytes.count, by: size) {
            try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { try body.receive($0) }
        }
    }

    @Test(arguments: [0, 1, 256 << 10, (256 << 10) + 1, 3_000_000]) func contentsAreWhatCame(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        for piece in [1009, 100_000, 4_000_000] {
            let body = SpooledBody(directory: "/tmp", limit: 3_000_000)
            try receive(bytes, by: piece, body)
            #expect(body.isSpooled == (size > SpooledBody.memoryBound))
            #expect(try body.contents() == bytes)
            // Memory stays bounded, and the file counts too.
            let spooled = max(0, size - SpooledBody.memoryBound)
            #expect(body.heldBytes == size - spooled + spooled / 8)
        }
    }

    @Test func bodyOverTheLimitIsRefused() throws {
        let body = SpooledBody(directory: "/tmp", limit: 300_000)
        try receive([UInt8](repeating: 1, count: 300_000), by: 300_000, body)
        let error = try #require(throws: RPCError.self) { try receive([1], by: 1, body) }
        #expect(error.status == .resourceExhausted)
    }

    @Test func fullOrMissingDiskIsToldAsUnavailable() throws {
        // Neither takes a file.
        for directory in ["/nonexistent", "/proc"] {
            let body = SpooledBody(directory: directory, limit: 1_000_000)
            let error = try #require(throws: RPCError.self) {
                try receive([UInt8](repeating: 1, count: 300_000), by: 300_000, body)
            }
            #expect(error.status == .unavailable && error.cause != nil)
            #expect(!error.message.contains(directory))
        }
    }
}
