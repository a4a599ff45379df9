import Basics
package import Capability
package import Database
import Proto
package import RPC

extension Identity: Capability {
    package static var migrations: [Migration] { IdentityMigrations.all }

    package static var settings: (any CapabilitySettings.Type)? { IdentityConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (
                .anyone,
                [
                    IdentityServiceMethods.listProviders, IdentityServiceMethods.beginSignIn,
                    IdentityServiceMethods.completeSignIn, IdentityServiceMethods.signInWithIdentityToken,
                    IdentityServiceMethods.exchangeWorkloadToken,
                ]
            ),
            (.user(.viewer), [IdentityServiceMethods.listIdentities]),
            (.user(.admin), [IdentityServiceMethods.findUsersByEmail]),
            (.session, [IdentityServiceMethods.unlink]),
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .auth || listener == .web else { return }
        service.register(in: &router)
    }

    package var sweeps: [Sweep] { [Sweep("spent_tokens", run: sweep)] }

    /// Removes the records of used tokens that have expired.
    func sweep(_ permit: DeletionPermit) async throws -> Int {
        let now = try permit.now()
        // A write would commit although it removes nothing.
        guard try await database.read({ try SpentTokenRecords($0).hasExpired(at: now) }) else { return 0 }
        return try await database.write(mayUseReserve: true) { try SpentTokenRecords($0).deleteExpired(permit) }
    }
}
