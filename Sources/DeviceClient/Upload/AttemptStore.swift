import Basics
import Crypto
import HTTPClient
import Proto
import StoreClient
import StoreProtocol

/// The store's requests for one attempt of an upload, with credentials that are reissued in time, or when the store refuses them.
struct AttemptStore: Sendable {
    /// The time before the credentials' expiry at which new ones are requested, so that a part that has begun can be finished.
    private static let credentialLead = Duration.minutes(5)

    private let object: StoreObject
    private let credentials: Renewable<TemporaryCredentials>
    private let clock: ServerClock

    /// - Parameter issued: existing credentials, if any.
    init(
        _ attempt: UploadAttempt, issued: UploadCredentials?, service: DataGatewayServiceClient<DeviceCalls>,
        clock: ServerClock
    ) throws {
        let endpoint: StoreEndpoint
        do {
            endpoint = try StoreEndpoint(attempt.endpoint)
        } catch {
            throw TransferFailure.unusable("the gateway's object store is at '\(attempt.endpoint)': \(error)")
        }
        object = StoreObject(endpoint: endpoint, region: attempt.region, bucket: attempt.bucket, key: attempt.key)
        self.clock = clock
        credentials = Renewable(lead: Self.credentialLead, clock: clock, first: issued.map { Renewable.Issue($0) }) {
            let reply = try await service.reissueUploadCredentials(
                ReissueUploadCredentialsRequest(uploadID: attempt.upload))
            guard let fresh = reply.credentials, UploadAttempt(fresh, upload: attempt.upload) == attempt else {
                throw TransferFailure.unusable("the gateway issued credentials for another object")
            }
            return Renewable.Issue(fresh)
        }
    }

    /// Performs `operation` over `connection`; if the store refuses the credentials or the clock, once more with new credentials or
    /// the store's time.
    func run<Result>(
        over connection: HTTPConnection, _ operation: (StoreClient) async throws -> Result
    ) async throws -> Result {
        let current = try await credentials.current()
        do {
            return try await operation(client(current.value, connection))
        } catch let refusal as StoreRefusal {
            switch refusal.retryability {
            case .adoptTime(let time):
                clock.adopt(time)
                return try await operation(client(current.value, connection))
            case .refreshCredentials:
                return try await operation(client(try await credentials.replacing(current).value, connection))
            case .retry, .startOver, .sendAgain, .none: throw refusal
            }
        }
    }

    private func client(_ credentials: TemporaryCredentials, _ connection: HTTPConnection) -> StoreClient {
        StoreClient(object, credentials: credentials.signing, over: connection, clock: clock)
    }
}

extension UploadAttempt {
    init(_ issued: UploadCredentials, upload: String) {
        self.init(
            upload: upload, endpoint: issued.endpoint, region: issued.objectStoreRegion, bucket: issued.bucket,
            key: issued.objectKey, partSize: issued.partSizeBytes)
    }
}

extension Renewable.Issue where Value == TemporaryCredentials {
    fileprivate init(_ issued: UploadCredentials) {
        let expiresAt = UnixTime(seconds: issued.stsExpireAtUnix)
        self.init(
            value: TemporaryCredentials(
                accessKeyID: issued.stsAccessKeyID, secret: Secret(issued.stsAccessKeySecret),
                securityToken: issued.stsSecurityToken, expiresAt: expiresAt),
            expiresAt: expiresAt)
    }
}
