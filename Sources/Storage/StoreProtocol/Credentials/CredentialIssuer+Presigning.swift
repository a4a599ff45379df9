package import Basics

/// URLs that are signed by temporary credentials of their own.
extension CredentialIssuer {
    /// The time for which a URL is valid.
    package struct Validity: Sendable {
        let start: UnixTime
        let lifetime: Duration

        /// - Parameter lifetime: at most this long; a URL expires with its claims.
        package init(from start: UnixTime, for lifetime: Duration) {
            self.start = start
            self.lifetime = lifetime
        }
    }

    /// Returns a URL for reading one object, with any Range.
    ///
    /// - Parameters:
    ///   - claims: restricted to reading.
    ///   - download: the object's name and type in the response; `nil` = as stored.
    package func presignedGet(
        _ claims: CredentialClaims, at endpoint: StoreEndpoint, _ validity: Validity, as download: DownloadName? = nil
    ) throws -> PresignedRequest {
        try presigned("GET", .read, claims, at: endpoint, validity, parameters: download?.parameters ?? [])
    }

    /// Returns a URL for one PUT of an object; otherwise like ``presignedGet(_:at:_:as:)``.
    package func presignedPut(
        _ claims: CredentialClaims, at endpoint: StoreEndpoint, _ validity: Validity
    ) throws -> PresignedRequest {
        try presigned("PUT", .write, claims, at: endpoint, validity)
    }

    private func presigned(
        _ method: String, _ operations: CredentialClaims.Operations, _ claims: CredentialClaims,
        at endpoint: StoreEndpoint, _ validity: Validity, parameters: [(name: String, value: String)] = []
    ) throws -> PresignedRequest {
        let now = validity.start
        let lifetime = min(validity.lifetime, .seconds(claims.expiresAt.seconds - now.seconds))
        let narrowed = CredentialClaims(
            uploadID: claims.uploadID, bucket: claims.bucket, key: claims.key, operations: operations,
            expiresAt: now.adding(lifetime), holder: claims.holder)
        return try PresignedRequest(
            method, StoreObject(endpoint: endpoint, bucket: claims.bucket, key: claims.key), parameters: parameters,
            credentials: issue(narrowed), at: now, lifetime: lifetime)
    }
}
