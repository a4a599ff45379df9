import Basics

/// The discovery document of one provider, read when it is needed and kept for an hour.
actor MetadataSource {
    private static let lifetime = Duration.hours(1)

    private let issuer: String
    private let transport: any ProviderTransport
    private let clock: any WallClock
    private var known: (metadata: ProviderMetadata, at: UnixTime)?
    private var reading: Task<Result<ProviderMetadata, ProviderFailure>, Never>?

    init(issuer: String, transport: any ProviderTransport, clock: any WallClock) {
        self.issuer = issuer
        self.transport = transport
        self.clock = clock
    }

    func metadata() async throws(ProviderFailure) -> ProviderMetadata {
        if let known, (Duration.zero..<Self.lifetime).contains(clock.now().duration(since: known.at)) {
            return known.metadata
        }
        let task = reading ?? Task { [issuer, transport] in await Self.read(issuer, transport) }
        reading = task
        let result = await task.value
        // Only the first of those that waited finds the task.
        if reading == task {
            reading = nil
            if case .success(let metadata) = result { known = (metadata, clock.now()) }
        }
        return try result.get()
    }

    private static func read(
        _ issuer: String, _ transport: any ProviderTransport
    ) async -> Result<ProviderMetadata, ProviderFailure> {
        do throws(ProviderFailure) {
            // Section 4: the issuer's last slash is left out.
            let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
            let document = try await transport.get(
                "\(base)/.well-known/openid-configuration", limit: ProviderMetadata.maximumBytes)
            return .success(try ProviderMetadata(parsing: document.body, issuer: issuer))
        } catch {
            return .failure(error)
        }
    }
}
