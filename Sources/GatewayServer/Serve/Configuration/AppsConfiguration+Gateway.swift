import Accounts
import AppSupport
import Basics
import Capability
import Configuration
import Database
import Observability
import Proto
import RPC
import Wire

/// The apps, for a gateway.
extension AppsConfiguration {
    /// Connects the enabled apps to the gateway.
    func open(_ environment: AppEnvironment) async throws -> [any Capability] {
        var open: [any Capability] = []
        for app in enabled { open.append(try await app.open(environment)) }
        return open
    }

    /// The migrations of all apps; those of disabled ones are dormant.
    var migrations: [Migration] {
        let enabled = Set(enabled.map { type(of: $0).name })
        let all = known.flatMap { kind in
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
