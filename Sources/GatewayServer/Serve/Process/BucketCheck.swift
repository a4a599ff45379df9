import Basics
package import Configuration
import S3Engine
import StoreClient

/// An examination of the bucket that a configuration names, apart from a running gateway: it leaves the owner of the prefix alone.
package struct BucketCheck: Sendable {
    /// Sentences with their severity, such as `warning: …`.
    package let findings: [String]
    /// Whether a gateway would not start with the bucket.
    package let isRefused: Bool

    /// Examines the bucket: see ``BucketProbe``.
    ///
    /// - Parameter variables: the environment, which may have the credentials.
    /// - Returns: `nil` if the engine is the directory.
    /// - Throws: the reason why there are no credentials.
    package static func run(
        _ configuration: Configuration, variables: [String: String]
    ) async throws -> BucketCheck? {
        guard let settings = configuration[StoreConfiguration.self].engine.s3 else { return nil }
        let clock = SystemClock()
        let credentials = try settings.credentialSource(clock: clock) { variables[$0] }
        let report = try await BucketProbe.run(
            settings, settings.controlClient(credentials, clock: clock), clock: clock)
        return BucketCheck(findings: report.findings.map(\.description), isRefused: report.isRefused)
    }
}
