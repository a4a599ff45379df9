import Basics
import Crypto
import HTTPClient
import Proto
import StoreClient
import StoreProtocol

/// The store as one attempt of an upload reaches it: with credentials that are reissued in time, or when it refuses
/// those that it gets.
struct AttemptStore: Sendable {
    /// Seconds before the credentials' end at which others are asked for: a part that begins by then gets through.
    private static let credentialLead = Duration.minutes(5)

    private let object: StoreObject
    private let credentials: Renewable<TemporaryCredentials>
    private let clock: ServerClock

    /// - Parameter issued: the credentials that are at hand, if there are any.
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

    /// Does `operation` over `connection`; once more where the credentials are refused, with others, or the clock, by the
    /// store's.
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
