import CMD5

/// The MD5 of bytes that arrive in pieces, for ETag and Content-MD5 only, like ``HashFunction/md5``.
///
/// The pieces of several messages can be hashed at the same time, see ``update(_:_:)``; that is several times as fast as one after
/// the other.
package struct RunningMD5: Sendable, Equatable {
    /// The number of messages that the CPU hashes at the same time.
    package static let messagesAtOnce = Int(cmd5_messages(availableLanes))
    private static let availableLanes = cmd5_lanes()

    private var message = cmd5_message()

    package static func == (one: RunningMD5, other: RunningMD5) -> Bool {
        one.message.length == other.message.length && one.state == other.state
    }

    package init() {
        cmd5_start(&message)
    }

    /// The MD5 of an earlier message, of which more bytes follow.
    ///
    /// - Parameters:
    ///   - state: see ``state``.
    ///   - length: the number of bytes so far.
    /// - Returns: `nil` if the state is not one of a message of this length.
    package init?(state: [UInt8], length: Int64) {
        let words = MemoryLayout.size(ofValue: message.words)
        let block = MemoryLayout.size(ofValue: message.rest)
        guard length >= 0, state.count == words + Int(length % Int64(block)) else { return nil }
        message.length = UInt64(length)
        withUnsafeMutableBytes(of: &message.words) { $0.copyBytes(from: state[..<words]) }
        withUnsafeMutableBytes(of: &message.rest) { $0.copyBytes(from: state[words...]) }
    }

    /// The state that is needed, beside the length, to add more bytes later: the four words of the digest so far, each with its lowest byte first,
    /// and the bytes that fill no block yet.
    package var state: [UInt8] {
        let rest = Int(message.length % UInt64(MemoryLayout.size(ofValue: message.rest)))
        return withUnsafeBytes(of: message.words) { Array($0) } + withUnsafeBytes(of: message.rest) { $0.prefix(rest) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutablePointer(to: &message) { message in
            var piece = Self.piece(bytes, of: message)
            cmd5_update(&piece, 1, 1)
        }
    }

    /// Adds to each message the bytes at the same place.
    package static func update(_ messages: inout [RunningMD5], _ bytes: [UnsafeRawBufferPointer]) {
        update(&messages, bytes, lanes: availableLanes)
    }

    /// - Parameter lanes: chooses the instructions, see `md5.h`; at most those that the CPU has.
    static func update(_ messages: inout [RunningMD5], _ bytes: [UnsafeRawBufferPointer], lanes: Int32) {
        precondition(messages.count == bytes.count)
        var states = messages.map(\.message)
        states.withUnsafeMutableBufferPointer { states in
            guard let first = states.baseAddress else { return }
            var pieces = bytes.indices.map { piece(bytes[$0], of: first + $0) }
            cmd5_update(&pieces, pieces.count, lanes)
        }
        for index in messages.indices { messages[index].message = states[index] }
    }

    private static func piece(
        _ bytes: UnsafeRawBufferPointer, of message: UnsafeMutablePointer<cmd5_message>
    ) -> cmd5_piece {
        cmd5_piece(
            message: message, bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }

    /// Returns the digest of the bytes so far.
    package func finalize() -> [UInt8] {
        var message = message
        return [UInt8](unsafeUninitializedCapacity: 16) { digest, count in
            guard let start = digest.baseAddress else { return }
            cmd5_finish(&message, start)
            count = 16
        }
    }
}
