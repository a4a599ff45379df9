import Basics
import Synchronization

/// The caller's side of bodies in pieces.
extension Transfer {
    /// A step that writes the bytes from an offset on, as many as there is space for.
    private func write(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws -> PieceStep? {
        switch state.result {
        case .failure(let error): throw error
        case .success: throw HTTPUpload.Failure.answered
        case nil: break
        }
        guard state.outgoing.free > 0 else { return nil }
        let count = state.outgoing.append(bytes)
        state.written += Int64(count)
        state.isWhole = state.written == body.size
        return PieceStep(count: count, resumes: takeResume(&state))
    }

    private func takeResume(_ state: inout State) -> Bool {
        guard state.isWaitingForBytes, state.sendable > 0 else { return false }
        state.isWaitingForBytes = false
        return true
    }

    /// Writes all bytes; waits for space.
    func write(_ bytes: [UInt8]) async throws {
        var offset = 0
        while offset < bytes.count {
            let from = offset
            let step = try await next { [self] state in
                try bytes.withUnsafeBytes { try write(UnsafeRawBufferPointer(rebasing: $0[from...]), &state) }
            }
            if step.resumes { thread.post(.resume(self)) }
            offset += step.count
        }
    }

    func writeBlocking(_ bytes: UnsafeRawBufferPointer) throws {
        nonisolated(unsafe) let bytes = bytes  // used before this returns
        var offset = 0
        while offset < bytes.count {
            let from = offset
            let step = try nextBlocking { [self] state in
                try write(UnsafeRawBufferPointer(rebasing: bytes[from...]), &state)
            }
            if step.resumes { thread.post(.resume(self)) }
            offset += step.count
        }
    }

    /// Lets the last byte of the body be sent.
    func complete() {
        let resumes = state.withLock { state in
            state.isComplete = true
            return takeResume(&state)
        }
        if resumes { thread.post(.resume(self)) }
    }

    /// Waits for the complete response.
    func reply() async throws -> HTTPReply { try await next { try $0.result?.get() } }

    func replyBlocking() throws -> HTTPReply { try nextBlocking { try $0.result?.get() } }

    /// Returns the next bytes of the response's body; empty at its end.
    func read(atMost limit: Int) async throws -> [UInt8] {
        let (bytes, resumes) = try await next { [self] (state: inout State) throws -> ([UInt8], resumes: Bool)? in
            guard state.incoming.count > 0 || state.result != nil else { return nil }
            return try take(&state) { $0.take(atMost: limit) }
        }
        if resumes { thread.post(.resume(self)) }
        return bytes
    }

    func readBlocking(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        nonisolated(unsafe) let buffer = buffer  // used before this returns
        if let reader { return try read(into: buffer, by: reader) }
        let (count, resumes) = try nextBlocking { [self] (state: inout State) throws -> (Int, resumes: Bool)? in
            guard state.incoming.count > 0 || state.result != nil else { return nil }
            return try take(&state) { $0.take(into: buffer) }
        }
        if resumes { thread.post(.resume(self)) }
        return count
    }

    /// Receives the next bytes on this thread, and into the buffer if no others have arrived before.
    private func read(into buffer: UnsafeMutableRawBufferPointer, by reader: ReaderLoop) throws -> Int {
        nonisolated(unsafe) let buffer = buffer  // used before this returns
        if state.withLock({ $0.incoming.count == 0 && $0.result == nil }) {
            state.withLock { $0.wanted = WantedBytes(buffer: buffer) }
            defer { state.withLock { $0.wanted = nil } }
            let count = reader.run(resuming: self) {
                state.withLock { state in
                    let hasMore = state.incoming.count > 0 || state.result != nil
                    return state.wanted.flatMap { $0.count > 0 || hasMore ? $0.count : nil }
                }
            }
            // Bytes that found no space in the buffer come with the next call.
            if count > 0 { return count }
        }
        return try state.withLock { state in
            try throwFailure(state)
            return state.incoming.take(into: buffer)
        }
    }

    /// Takes bytes with `take`. What arrived before a failure is still read, so that a receiver can resume there; a caller that
    /// canceled its own stream wants nothing more.
    private func take<T: Sendable>(
        _ state: inout State, _ take: (inout ByteRing) -> T
    ) throws -> (T, resumes: Bool) {
        try throwFailure(state)
        let taken = take(&state.incoming)
        let resumes = state.isWaitingForReader && state.incoming.free >= Transfer.window / 2
        if resumes { state.isWaitingForReader = false }
        return (taken, resumes)
    }

    /// Throws the failure of the transfer, unless bytes that arrived before it are still to be read.
    private func throwFailure(_ state: State) throws {
        if case .failure(let error) = state.result,
            state.incoming.count == 0 || isStreamed && error is CancellationError
        {
            throw error
        }
    }

    /// Waits for the header section of the response.
    func responseHead() async throws -> Head { try await next(Self.headStep) }

    func responseHeadBlocking() throws -> Head { try nextBlocking(Self.headStep) }

    @Sendable private static func headStep(_ state: inout State) throws -> Head? {
        if let head = state.head { return head }
        return try (state.result?.get()).map { Head(status: $0.status, fields: $0.fields) }
    }
}

/// The result of an attempt to write.
private struct PieceStep: Sendable {
    let count: Int
    /// Whether the transfer waited for these bytes.
    let resumes: Bool
}
