import HTTPClient
import StoreProtocol

/// An object that is being stored, with streamed bytes. It appears in the store only if ``finish()`` succeeds; the request is not
/// repeated.
package struct S3Upload: Sendable {
    private let upload: HTTPUpload
    private let source: any CredentialSource
    private let credentials: SigningCredentials
    private let observer: (any S3Observer)?

    init(
        _ upload: HTTPUpload, source: any CredentialSource, credentials: SigningCredentials,
        observer: (any S3Observer)?
    ) {
        self.upload = upload
        self.source = source
        self.credentials = credentials
        self.observer = observer
    }

    /// Writes the next bytes: see ``HTTPUpload/write(_:)``. If the store answers before the end, it returns, and ``finish()`` throws.
    ///
    /// - Returns: whether the store takes further bytes.
    package func write(_ bytes: [UInt8]) async throws -> Bool {
        do {
            try await upload.write(bytes)
            observer?.sent(bytes.count)
            return true
        } catch {
            return try isAnswered(error)
        }
    }

    /// Writes the next bytes like ``write(_:)``, but blocks this thread.
    package func writeBlocking(_ bytes: UnsafeRawBufferPointer) throws -> Bool {
        do {
            try upload.writeBlocking(bytes)
            observer?.sent(bytes.count)
            return true
        } catch {
            return try isAnswered(error)
        }
    }

    /// - Returns: `false` if the store has answered.
    /// - Throws: any other error.
    private func isAnswered(_ error: any Error) throws -> Bool {
        if let failure = error as? HTTPUpload.Failure, failure == .answered { return false }
        ended(error, since: .now)
        throw error
    }

    /// Completes the object.
    ///
    /// - Returns: its ETag.
    /// - Throws: ``StoreRefusal`` of the store. The next upload has new credentials if these were refused.
    package func finish() async throws -> String {
        let began = ContinuousClock.now
        do {
            let reply = try await upload.finish()
            guard (200..<300).contains(reply.status) else { throw StoreRefusal(reply) }
            let etag = try S3Client.etag(of: reply)
            ended(nil, since: began)
            return etag
        } catch {
            ended(error, since: began)
            if let refusal = error as? StoreRefusal, refusal.mayBeOfCredentials { await source.refused(credentials) }
            throw error
        }
    }

    /// Reports the end of the request, unless it was given up.
    private func ended(_ error: (any Error)?, since began: ContinuousClock.Instant) {
        guard !(error is CancellationError) else { return }
        observer?.ended(.put, error, after: .now - began)
    }

    /// Gives the object up: the connection is closed, and nothing is stored.
    package func cancel() { upload.cancel() }
}
