import GatewayAPI
import Proto
import RPC
import StoreProtocol

/// The destination in a job's request, which is also stored in its row. It is only usable while the configuration lists it.
struct CopyPlace: Sendable, Hashable {
    let endpoint: String
    let bucket: String
    let region: String

    /// - Throws: INVALID_ARGUMENT for an invalid destination, independent of the configuration.
    init(_ request: CopyDestination) throws(RPCError) {
        endpoint = request.endpoint
        bucket = request.bucket
        region = request.region
        for (field, value) in [("account_id", request.accountID), ("kms_key_id", request.kmsKeyID)]
        where !value.isEmpty {
            throw .invalidArgument("destination.\(field) must be empty: the gateway's configuration sets it")
        }
        guard endpoint.hasPrefix(Self.fileScheme) else { return }
        guard bucket.isEmpty, region.isEmpty else {
            throw .invalidArgument("destination.bucket and destination.region must be empty for a file:// endpoint")
        }
    }

    init(endpoint: String, bucket: String, region: String) {
        self.endpoint = endpoint
        self.bucket = bucket
        self.region = region
    }

    /// The scheme of endpoints that are folders of this machine.
    static let fileScheme = "file://"
}
