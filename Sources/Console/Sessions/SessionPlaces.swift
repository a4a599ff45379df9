/// The places for sessions of the console, which organizations share.
///
/// A sign-in without a free place takes that of the organization with the most sessions. So an organization whose users sign in all the
/// time loses its own sessions, and nobody else's.
struct SessionPlaces {
    /// The number of sessions of each organization that has any.
    let held: [Int64: Int]

    /// Returns the organization that loses a session for a sign-in; `nil` if none may: each has one, and a further organization wants
    /// its first.
    ///
    /// - Parameters:
    ///   - organizationID: the organization of the user who signs in.
    ///   - isSystem: whether it is SYSTEM, whose users can always sign in.
    func loser(for organizationID: Int64, isSystem: Bool) -> Int64? {
        let own = held[organizationID, default: 0]
        guard let most = held.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
        // Organizations with equal numbers do not take each other's places.
        if most.value > own + 1 { return most.key }
        if own > 0 { return organizationID }
        return isSystem ? most.key : nil
    }
}
