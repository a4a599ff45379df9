import AppSupport
import Basics
import GRPCWire
import GatewayAPI
import HTTPTypes
import RPC
import Settings

/// The settings of the app.
struct CompanionsConfiguration: Sendable {
    /// The name of the app's organization.
    var organization = "companions"
    /// Whether responses have the names of the app's document instead of those of the published app.
    var usesDocumentNames = false
    /// The shortest password of a new account, in bytes.
    var minimumPassword = 1
    /// The number of accounts.
    var mostMembers = 100_000
    /// The time in which two people are not matched again.
    var rematchTime = Duration.days(30)
    /// The file with the plans; empty = those of the program.
    var plansFile = ""

    /// Registrations a minute from one address.
    static let registrations = 10
    /// Changes a minute of one member.
    static let changes = 120
    /// Reads a minute of one member.
    static let reads = 240
    /// Pictures a minute of one member.
    static let pictures = 6
    /// Messages an hour of one member to the operators.
    static let feedback = 20
    /// Sign-ins a minute of one member.
    static let signIns = 20
    /// The shortest time for which an ended match is stored.
    static let matchRetention = Duration.days(365)
    /// The time after which somebody does not wait for a partner any more.
    static let waitingTime = Duration.days(30)

    init() {}

    /// Reads the keys of `apps.companions`.
    init(_ settings: AppSettings) {
        let section = settings.section
        organization = section.text(
            "organization", default: organization, unit: "name", bounds: "1–64 letters, digits or `. _ @ + -`")
        let names = section.text("names", default: "app", unit: "name", bounds: "`app` or `document`")
        if names != "app", names != "document" { section.reject("names", "must be app or document") }
        usesDocumentNames = names == "document"
        minimumPassword = section.integer("min_password", default: minimumPassword, in: 1...64, unit: "bytes")
        mostMembers = section.integer("max_members", default: mostMembers, in: 1...10_000_000, unit: "accounts")
        rematchTime = section.duration("rematch_days", default: rematchTime, in: 0...3650, unit: .days)
        plansFile = section.text("plans_file", default: "", unit: "path", bounds: "a JSON file")
    }
}

/// The limits of calls of an address or a member. A refusal has the code -1, which the published app takes for a failure.
struct CompanionLimits: Sendable {
    let clock: any WallClock
    private let registrations = Throttle(perMinute: CompanionsConfiguration.registrations)
    private let changes = Throttle(perMinute: CompanionsConfiguration.changes)
    private let reads = Throttle(perMinute: CompanionsConfiguration.reads)
    private let pictures = Throttle(perMinute: CompanionsConfiguration.pictures)
    private let signIns = Throttle(perMinute: CompanionsConfiguration.signIns)
    private let feedback = Throttle(perHour: CompanionsConfiguration.feedback)

    init(clock: any WallClock) {
        self.clock = clock
    }

    func countRegistration(_ context: CallContext) throws(RPCError) {
        try take(
            registrations, AddressRange.countedAsOne(context.peer.host), "too many accounts were made: try again later")
    }

    /// Counts a sign-in that succeeded. Each writes a line of the audit log.
    func countSignIn(_ userID: Int64) throws(RPCError) {
        try take(signIns, "\(userID)", "too many sign-ins were made: try again later")
    }

    func countChange(_ userID: Int64) throws(RPCError) {
        try take(changes, "\(userID)", "too many changes were made: try again later")
    }

    func countRead(_ userID: Int64) throws(RPCError) {
        try take(reads, "\(userID)", "too many calls were made: try again later")
    }

    func countPicture(_ userID: Int64) throws(RPCError) {
        try take(pictures, "\(userID)", "too many pictures were sent: try again later")
    }

    func countFeedback(_ userID: Int64) throws(RPCError) {
        try take(feedback, "\(userID)", "too many messages were sent: try again later")
    }

    private func take(_ throttle: Throttle, _ key: String, _ message: String) throws(RPCError) {
        guard let wait = throttle.take(key, at: clock.now()) else { return }
        throw RPCError(bare: .resourceExhausted, message, retryAfterMilliseconds: wait)
    }
}
