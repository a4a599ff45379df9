package import Protobuf

/// The callers for each RPC. Methods that it does not contain are closed to everybody.
///
/// Each capability has the rows of its own services; ``adding(_:)`` joins them.
package struct AccessTable: Sendable {
    package typealias Row = (access: Access, methods: [MethodDescriptor])

    private let accesses: [String: Access]
    private let messages: [String: SignInMessages]

    /// - Parameters:
    ///   - rows: a method in two rows traps, because one of them would be without effect.
    ///   - messages: those of all methods for callers without a valid token; `nil` = the gateway's.
    package init(_ rows: [Row], messages: SignInMessages? = nil) {
        let accesses: [String: Access] = rows.reduce(into: [:]) { accesses, row in
            for method in row.methods {
                let earlier = accesses.updateValue(row.access, forKey: method.path)
                precondition(earlier == nil, "\(method.path) is twice in the access table")
            }
        }
        self.init(accesses: accesses, messages: messages.map { each in accesses.mapValues { _ in each } } ?? [:])
    }

    private init(accesses: [String: Access], messages: [String: SignInMessages]) {
        self.accesses = accesses
        self.messages = messages
    }

    /// Returns the table with the methods of another one; a method in both traps.
    package func adding(_ other: AccessTable) -> AccessTable {
        AccessTable(
            accesses: accesses.merging(other.accesses) { _, _ in
                preconditionFailure("two modules have the same method in their access tables")
            }, messages: messages.merging(other.messages) { own, _ in own })
    }

    /// The paths of all methods.
    package var paths: Set<String> { Set(accesses.keys) }

    /// - Parameter path: an HTTP/2 `:path`, e.g. `/archebase.auth.v1.AuthService/Login`.
    package func access(to path: String) -> Access? {
        accesses[path]
    }

    /// Returns the messages for callers of a method without a valid token; `nil` = the gateway's.
    package func messages(for path: String) -> SignInMessages? {
        messages[path]
    }
}

/// An app's messages for callers without a valid token, in the language of its users.
package struct SignInMessages: Sendable {
    /// For a call without a token.
    package let signedOut: String
    /// For a call with a token that expired, was revoked or is not one.
    package let expired: String

    package init(signedOut: String, expired: String) {
        self.signedOut = signedOut
        self.expired = expired
    }
}

/// The callers for whom a method is open.
package enum Access: Sendable, Hashable {
    /// Callers without any token.
    case anyone
    /// Devices and sites, by the access token for their API key.
    case apiKey
    /// Users with at least this role in the organization of the call.
    case user(Role)
    /// People with at least the role `viewer`, by the token of a session: for their own account. API tokens and service accounts are
    /// refused.
    case session
    /// The same, also if the session lacks the second factor that the organization requires.
    case unprovenSession
    /// Admins and service accounts of the SYSTEM organization.
    case systemAdmin
    /// The same, and programs with a client certificate from the listener's authorities.
    case systemAdminOrCertificate
}

/// The rights of a user in an organization; each role includes the ones before it.
///
/// A service account belongs to a program in the organization SYSTEM and has the rights of an admin there.
package enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// May call nothing of the gateway's own. Members are users of the applications that run beside it.
    case member
    /// May list and download.
    case viewer
    /// May also manage devices and keys.
    case `operator`
    /// May do everything in its organization.
    case admin
    /// An admin for programs, with a system credential instead of a password.
    case service

    private var rank: Int {
        switch self {
        case .member: -1
        case .viewer: 0
        case .operator: 1
        case .admin: 2
        case .service: 3
        }
    }

    package static func < (left: Role, right: Role) -> Bool {
        left.rank < right.rank
    }
}
