import Crypto
import Database
import RPC

/// A sign-in with a password to a session that the accounts do not keep, such as that of an app's cookie.
package struct PasswordProof: Sendable {
    let organization: String
    let userName: String
    let password: Secret

    package init(organization: String, userName: String, password: Secret) {
        self.organization = organization
        self.userName = userName
        self.password = password
    }
}

extension Accounts {
    /// Checks a password under the limits of Login, and runs `body` in the transaction that records the sign-in.
    ///
    /// - Throws: AUTH_INVALID_CREDENTIAL for a wrong name or password, AUTH_SECOND_FACTOR_REQUIRED for a user with a second factor.
    package func signIn<T: Sendable>(
        _ proof: PasswordProof, _ context: CallContext,
        _ body: @escaping @Sendable (UserRecord, Connection) throws -> T
    ) async throws -> T {
        let (now, place, action) = (clock.now(), SessionPlace(context), context.method.name)
        return try await sessions.proven(
            organization: proof.organization, userName: proof.userName, password: proof.password, from: place,
            at: now
        ) { user, connection in
            try Sessions.note(user, from: place, action: action, at: now, in: connection)
            return try body(user, connection)
        }
    }
}
