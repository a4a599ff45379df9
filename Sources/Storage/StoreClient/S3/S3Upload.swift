import HTTPClient
import StoreProtocol

/// An object that is being stored, with streamed bytes. It appears in the store only if ``finish()`` succeeds; the request is not
/// repeated.
package struct S3Upload: Sendable {
    private let upload: HTTPUpload
    private let source: any CredentialSource
    private let credentials: SigningCredentials

    init(_ upload: HTTPUpload, source: any CredentialSource, credentials: SigningCredentials) {
        self.upload = upload
        self.source = source
        self.credentials = credentials
    }

    /// Writes the next bytes: see ``HTTPUpload/write(_:)``. If the store answers before the end, it returns, and ``finish()`` throws.
    ///
    /// - Returns: whether the store takes further bytes.
    package func write(_ bytes: [UInt8]) async throws -> Bool {
        do {
            try await upload.write(bytes)
            return true
        } catch HTTPUpload.Failure.answered {
            return false
        }
    }

    /// Writes the next bytes like ``write(_:)``, but blocks this thread.
    package func writeBlocking(_ bytes: UnsafeRawBufferPointer) throws -> Bool {
        do {
            try upload.writeBlocking(bytes)
            return true
        } catch HTTPUpload.Failure.answered {
            return false
        }
    }

    /// Completes the object.
    ///
    /// - Returns: its ETag.
    /// - Throws: ``StoreRefusal`` of the store. The next upload has new credentials if these were refused.
    package func finish() async throws -> String {
        let reply = try await upload.finish()
        guard (200..<300).contains(reply.status) else {
            let refusal = StoreRefusal(reply)
            if refusal.mayBeOfCredentials { await source.refused(credentials) }
            throw refusal
        }
        return try S3Client.etag(of: reply)
    }

    /// Gives the object up: the connection is closed, and nothing is stored.
    package func cancel() { upload.cancel() }
}
