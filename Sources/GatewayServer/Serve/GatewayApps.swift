import Accounts
import AppSupport
import Basics
import Configuration
import Database
import Observability
import Proto
import RPC
import Wire

/// The enabled apps while the gateway serves.
struct GatewayApps: Sendable {
    private let running: [any RunningApp]

    init(_ configuration: AppsConfiguration, _ environment: AppEnvironment) async throws {
        var running: [any RunningApp] = []
        for app in configuration.enabled { running.append(try await app.open(environment)) }
        self.running = running
    }

    var sweeps: [AppSweep] { running.flatMap(\.sweeps) }

    var metrics: [any MetricSource] { running.flatMap(\.metrics) }

    /// Registers the services of all apps, and nothing else.
    func register(in router: inout Router) {
        for app in running { app.register(in: &router) }
    }
}

extension AppsConfiguration {
    /// The migrations of all apps; those of disabled ones are dormant.
    var migrations: [Migration] {
        let enabled = Set(enabled.map { type(of: $0).name })
        let all = Self.known.flatMap { kind in
            kind.migrations.map { enabled.contains(kind.name) ? $0 : $0.dormant }
        }
        // Several apps may use the same tables. They exist if one of the apps is enabled.
        let active = Set(all.filter { !$0.isDormant }.map(\.name))
        var seen: Set<String> = []
        return all.filter { ($0.isDormant ? !active.contains($0.name) : true) && seen.insert($0.name).inserted }
    }

    /// The callers for the methods of the enabled apps.
    var access: AccessTable { apis.reduce(AccessTable([])) { $0.adding($1.access) } }

    /// The files of the gateway and of the enabled apps.
    var files: [FileDescriptor] { ProtoFiles.all + apis.flatMap(\.files) }

    /// The routes of the enabled apps, in the REST forms that they are configured for.
    var routes: [HTTPRoute] {
        enabled.flatMap { app in
            type(of: app).api.routes.map { route in
                var route = route
                app.adapt(&route.style)
                return route
            }
        }
    }

    /// Whether clients of an enabled app have access tokens.
    var issuesAccessTokens: Bool { enabled.contains { type(of: $0).issuesAccessTokens } }

    /// The comments of the apps' files; several apps may give those of the same ones.
    var comments: String { Set(apis.map(\.comments)).sorted().joined(separator: "\n") }

    private var apis: [AppAPI] { enabled.map { type(of: $0).api } }
}
