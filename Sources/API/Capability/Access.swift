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
