import GatewayAPI
import ObjectStore
import Proto
import RPC

/// Where a job copies to, as its request named it and its row keeps it: worth something as long as the configuration
/// lists what it names.
struct CopyPlace: Sendable, Hashable {
    let endpoint: String
    let bucket: String
    let region: String

    /// - Throws: INVALID_ARGUMENT for what is no place, whatever the configuration lists.
    init(_ request: CopyDestination) throws(RPCError) {
        endpoint = request.endpoint
        bucket = request.bucket
        region = request.region
        for (field, value) in [("account_id", request.accountID), ("kms_key_id", request.kmsKeyID)]
        where !value.isEmpty {
            throw .invalidArgument("destination.\(field) must be empty: the gateway's configuration says how it copies")
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

    private static let fileScheme = "file://"

    /// The writer for a target; `nil` where this place is not for it.
    func writer(for target: CopyTarget, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        switch target.kind {
        case .folder(let target):
            guard endpoint.hasPrefix(Self.fileScheme) else { return nil }
            return folders(below: target.root).map { FolderWriter(root: target.root, folders: $0) }
        case .bucket(let target):
            guard (try? StoreEndpoint(endpoint)) == target.endpoint, bucket == target.bucket,
                region.isEmpty || region == target.region
            else { return nil }
            return BucketWriter(target, clock: environment.clock)
        }
    }

    /// The folders that lead from a root to the place.
    private func folders(below root: String) -> [String]? {
        var path = endpoint.dropFirst(Self.fileScheme.count)
        if path.count > 1, path.last == "/" { path.removeLast() }
        guard path.hasPrefix(root) else { return nil }
        let rest = path.dropFirst(root.count)
        guard !rest.isEmpty else { return [] }
        guard rest.first == "/" else { return nil }
        let folders = rest.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return folders.allSatisfy(FolderWriter.isName) ? folders : nil
    }
}
