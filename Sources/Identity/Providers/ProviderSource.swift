import Basics
import Database

/// A provider of the configuration with its documents.
struct ProviderSource: Sendable {
    let provider: IdentityProvider
    let transport: any ProviderTransport
    let metadata: MetadataSource
    let keys: KeySource
    /// The exchanges of codes that may be in progress or waiting for a connection, shared by addresses, because nobody is known yet.
    /// The documents are read by one caller for all.
    let exchanges = SharedSlots<String>(limit: 64)

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
