import Basics
import Foundation
import HTTPClient
import StoreClient
package import StoreProtocol

/// A bucket of an object store for archives.
package struct BackupBucket: BackupDestination {
    /// The bucket; the key is the prefix of all archives' keys, empty or with a slash at its end.
    package let place: StoreObject
    package let credentials: SigningCredentials
    /// The smallest size of a part in bytes; larger archives get larger parts.
    package let partSize: Int64
    /// The PEM file of authorities for the store's certificate; `nil` = those that the system trusts.
    package let authorities: String?
    /// The time for which failures without progress are retried.
    var retryDuration: Duration = .seconds(300)

    package init(_ place: StoreObject, credentials: SigningCredentials, partSize: Int64, authorities: String?) {
        self.place = place
        self.credentials = credentials
        self.partSize = partSize
        self.authorities = authorities
    }

    package var name: String { "\(place.endpoint.text)/\(place.bucket)/\(place.key)" }

    package func begin(_ archive: String, _ plan: ArchivePlan) async throws -> any ArchiveUpload {
        let store = store(archive)
        let multipartID = try await retrying.run("begin") { try await store.initiateMultipart() }
        do {
            try await plan.began(multipartID)
            return try BucketArchiveUpload(
                store, multipartID: multipartID, partSize: partSize(for: plan.expectedBytes), retrying: retrying,
                spool: "\(plan.scratch)/\(archive).part")
        } catch {
            try? await store.abort(multipartID)
            throw error
        }
    }

    package func size(of archive: String) async throws -> Int64? {
        let store = store(archive)
        return try await retrying.run("size") { try await store.head()?.size }
    }

    package func source(of archive: String) throws -> any ArchiveSource {
        BucketArchiveSource(store(archive), retrying: retrying)
    }

    package func remove(_ archive: String) async throws {
        let store = store(archive)
        try await retrying.run("removal") { try await store.delete() }
    }

    package func abandon(_ archive: String, multipartID: String?) async throws {
        guard let multipartID else { return }
        let store = store(archive)
        try await retrying.run("abort") { try await store.abort(multipartID) }
    }

    private func store(_ archive: String) -> StoreClient {
        StoreClient(
            StoreObject(
                endpoint: place.endpoint, region: place.region, bucket: place.bucket, key: place.key + archive,
                dialect: place.dialect),
            credentials: credentials, over: HTTPConnection(HTTPConnection.Options(authorities: authorities)),
            clock: SystemClock())
    }

    /// Returns a size, in whole MiB if it is not the configured one, with which an archive a quarter larger than expected has
    /// fewer parts than the limit.
    func partSize(for expectedBytes: Int64) -> Int64 {
        let needed = (expectedBytes + expectedBytes / 4) / PartRange.maximumCount + 1
        return max(partSize, (needed + 0xF_FFFF) & ~0xF_FFFF)
    }

    private var retrying: Retrying {
        Retrying(policy: RetryPolicy(retryDuration: retryDuration)) { error in
            switch error {
            case TransferFailure.connection: .transient()
            case let refusal as StoreRefusal where [.retry, .sendAgain].contains(refusal.retryability): .transient()
            default: .permanent
            }
        } notice: { _, _, _ in
        }
    }
}
