import Accounts
import Database
import ObjectStore
import Platform
import RPC

/// What was uploaded and verified: listed and downloaded by users.
public struct Catalog: Sendable {
    public static var migrations: [Migration] { ObjectRecords.migrations }

    private let service: ObjectService

    /// - Parameter endpoint: where clients reach the store; presigned URLs begin with it.
    public init(
        database: Database, store: ObjectStore, endpoint: StoreEndpoint, keyring: Keyring, clock: any WallClock,
        configuration: CatalogConfiguration = CatalogConfiguration()
    ) {
        service = ObjectService(
            listing: ObjectListing(
                database: database, tokens: PageTokens(keyring: keyring), configuration: configuration),
            downloads: Downloads(
                database: database, store: store, endpoint: endpoint, clock: clock,
                configuration: configuration))
    }

    /// Enters DataGatewayObjectService.
    public func register(in router: inout Router) {
        service.register(in: &router)
    }
}
