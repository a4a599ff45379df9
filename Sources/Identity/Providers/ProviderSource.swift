import Basics
import Database

/// A provider of the configuration with its documents.
struct ProviderSource: Sendable {
    let provider: IdentityProvider
    let transport: any ProviderTransport
    let metadata: MetadataSource
    let keys: KeySource

    init(
        _ provider: IdentityProvider, transport: any ProviderTransport, database: Database, clock: any WallClock,
        log: Logger
    ) {
        self.provider = provider
        self.transport = transport
        metadata = MetadataSource(issuer: provider.issuer, transport: transport, clock: clock)
        keys = KeySource(
            provider, metadata: metadata, transport: transport, database: database, clock: clock, log: log)
    }
}
