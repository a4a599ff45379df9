package import Basics
package import Crypto
package import Database
import HTTPTypes
import Protobuf
package import RPC

/// The part of the accounts for apps whose members sign in with passwords, to sessions that the accounts do not keep.
///
/// Limits, queues, the audit log and second factors are those of Login.
package struct MemberPasswords: Sendable {
    let sessions: Sessions

    /// Returns the hash of a new password, for ``UserRecords/update(id:role:passwordHash:at:)``.
    ///
    /// - Throws: UNAVAILABLE if too many passwords wait.
    package func hash(_ password: Secret, _ context: CallContext) async throws -> String {
        try await sessions.passwords.hash(
            password, for: .stranger(address: AddressRange.countedAsOne(context.peer.host)))
    }

    /// Checks a member's password.
    ///
    /// - Parameters:
    ///   - user: `nil` if nobody has the name: such attempts count as well, and take as long.
    ///   - account: the name by which the app recognizes people, for the limits. Equal names must be equal texts.
    /// - Returns: `nil` for a wrong password, which the audit log has.
    /// - Throws: UNAVAILABLE after too many failed attempts, or if too many passwords wait.
    package func prove(
        _ password: Secret, of user: UserRecord?, named account: String, _ context: CallContext, at now: UnixTime
    ) async throws -> ProvenPassword? {
        let signIn = Sessions.SignIn(
            account: account, place: SessionPlace(context), action: context.method.name, at: now)
        return try await sessions.prove(password, of: user, for: signIn)
    }

    /// Runs `body` in the transaction that records a member's sign-in.
    ///
    /// - Throws: AUTH_INVALID_CREDENTIAL if the password is not the member's any more, or the member's sessions were ended since it
    ///   was checked; AUTH_SECOND_FACTOR_REQUIRED for a member with a second factor.
    package func signIn<T: Sendable>(
        _ proven: ProvenPassword, _ body: @escaping @Sendable (UserRecord, Connection) throws -> T
    ) async throws -> T {
        try await sessions.enter(proven) { user, signIn, connection in
            try Sessions.note(user, from: signIn.place, action: signIn.action, at: signIn.at, in: connection)
            return try body(user, connection)
        }
    }

    /// Records a sign-in without a check of a password, in the transaction that opens the session.
    package static func noteSignIn(
        of user: UserRecord, _ context: (action: String, peer: String), at now: UnixTime, in connection: Connection
    ) throws {
        let place = SessionPlace(address: context.peer, userAgent: "")
        try Sessions.note(user, from: place, action: context.action, at: now, in: connection)
    }
}

extension Accounts {
    package var memberPasswords: MemberPasswords { MemberPasswords(sessions: sessions) }
}
