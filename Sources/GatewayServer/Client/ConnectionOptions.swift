import RPC

/// What every command says about its way to the gateway, and about its output.
struct ConnectionOptions: Sendable {
    var server: PeerAddress?
    var organization: OrganizationArgument?
    var json = false

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--server", "HOST:PORT", \.server,
                "The gateway's admin listener (default: $\(ServerAddress.adminVariable), else where login went)"),
            .option(
                "--organization", "NAME", \.organization,
                "Act for another organization than your own; for admins of 'system'"),
            .flag("--json", \.json, "Print one JSON object, fields named as in the .proto files"),
        ]
    }
}
