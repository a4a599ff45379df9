import Accounts
import Basics
import GatewayFormats
import Proto
import RPC

/// The rules of a device's diagnosis, in the order in which they apply.
enum DiagnosisRules {
    /// A condition with its sentences.
    struct Finding: Sendable, Hashable {
        let condition: DeviceCondition
        let sentence: String

        init(_ condition: DeviceCondition, _ sentence: String) {
            self.condition = condition
            self.sentence = sentence
        }
    }

    /// The time after which a device counts as silent.
    private static let silence = Duration.days(1)

    /// The refusals of calls with a key that may not be used.
    private static let keyCodes: [DetailCode] = [.authKeyDisabled, .authKeyExpired, .authSiteDisabled]
    /// The refusals after which a client continues by itself.
    private static let ordinaryCodes: [DetailCode] = [
        .unauthenticated, .uploadNotFound, .uploadNotRefreshable, .uploadNotOwned, .rateLimited, .overloaded,
    ]

    private static let all: [@Sendable (DeviceFacts) -> Finding?] = [
        retired, neverCalled, disabled, withoutSuite, siteDisabled, withoutKey, keyDisabled, keyExpired, clockWrong,
        callsRefused, uploadsFail, silent, uploading, withoutUploads,
    ]

    /// Returns the finding of the first rule that applies.
    static func finding(_ facts: DeviceFacts) -> Finding {
        for rule in all {
            if let finding = rule(facts) { return finding }
        }
        return inOrder(facts)
    }

    // MARK: Rules

    private static func retired(_ facts: DeviceFacts) -> Finding? {
        facts.device.retiredAt.map { Finding(.retired, "The device was retired \(ago($0, facts)).") }
    }

    private static func neverCalled(_ facts: DeviceFacts) -> Finding? {
        guard facts.device.initializedAt == nil, facts.device.lastSeenAt == nil, facts.refusals.isEmpty else {
            return nil
        }
        let hint =
            facts.device.suiteID == nil
            ? "it is in no suite, and cannot fetch its key." : "it has not fetched its key."
        return Finding(.neverCalled, "The device never called: \(hint)\(unproven(facts))")
    }

    private static func disabled(_ facts: DeviceFacts) -> Finding? {
        guard facts.device.isDisabled else { return nil }
        return Finding(.disabled, "The device is disabled. \(callsSince(facts))")
    }

    private static func withoutSuite(_ facts: DeviceFacts) -> Finding? {
        guard facts.device.suiteID == nil else { return nil }
        return Finding(.noSuite, "The device is in no suite, so its key does not work. \(callsSince(facts))")
    }

    private static func siteDisabled(_ facts: DeviceFacts) -> Finding? {
        guard facts.siteStatus == .disabled else { return nil }
        return Finding(.siteDisabled, "The site of the device's suite is disabled. \(callsSince(facts))")
    }

    private static func withoutKey(_ facts: DeviceFacts) -> Finding? {
        guard facts.key == nil else { return nil }
        return Finding(.noKey, "The device has no key.\(unproven(facts))")
    }

    private static func keyDisabled(_ facts: DeviceFacts) -> Finding? {
        guard facts.key?.usability == .disabled else { return nil }
        return Finding(.keyDisabled, "The device's key is disabled. \(callsSince(facts))")
    }

    private static func keyExpired(_ facts: DeviceFacts) -> Finding? {
        guard facts.key?.usability == .expired else { return nil }
        return Finding(.keyExpired, "The device's key has expired. \(callsSince(facts))")
    }

    private static func clockWrong(_ facts: DeviceFacts) -> Finding? {
        guard let offset = facts.clockOffset else { return nil }
        let difference = span(.seconds(Int64(clamping: offset.magnitude)))
        return Finding(.clockWrong, "The device's clock is \(difference) \(offset > 0 ? "ahead" : "behind").")
    }

    private static func callsRefused(_ facts: DeviceFacts) -> Finding? {
        let ignored = (keyCodes + ordinaryCodes).map(\.rawValue)
        let refusal = facts.refusals.first { !ignored.contains($0.reason) && facts.isRecent($0.lastAt) }
        guard let refusal, facts.uploads.lastCompletedAt.map({ $0 < refusal.lastAt }) ?? true else { return nil }
        return Finding(
            .callsRefused,
            """
            The device's calls are refused: \(refusal.message) (\(count(refusal.count, "call")), the first one \
            \(ago(refusal.firstAt, facts)), the last one \(ago(refusal.lastAt, facts))).
            """)
    }

    private static func uploadsFail(_ facts: DeviceFacts) -> Finding? {
        let since = facts.uploads.lastCompletedAt
        let failures = facts.uploads.failures.filter { failure in since.map { failure.beganAt > $0 } ?? true }
        guard let last = failures.first else { return nil }
        let subject = failures.count == 1 ? "The device's last upload" : "The device's last \(failures.count) uploads"
        return Finding(.uploadsFail, "\(subject) failed: \(last.reason) (begun \(ago(last.beganAt, facts))).")
    }

    private static func silent(_ facts: DeviceFacts) -> Finding? {
        let seen = facts.device.lastSeenAt ?? facts.device.initializedAt ?? facts.device.createdAt
        guard facts.now.duration(since: seen) >= silence else { return nil }
        let rate = before(facts).map { " Before that it made \($0)." } ?? ""
        let heard = "The device was last heard of \(ago(seen, facts))"
        guard let refusal = facts.refusals.first, refusal.lastAt >= seen else {
            let ending = facts.unproven.isEmpty ? ", and nothing was refused" : ""
            return Finding(.silent, "\(heard)\(ending).\(rate)\(unproven(facts))")
        }
        return Finding(
            .silent, "\(heard), and last refused \(ago(refusal.lastAt, facts)): \(refusal.message).\(rate)")
    }

    private static func uploading(_ facts: DeviceFacts) -> Finding? {
        guard facts.uploads.inProgress > 0 else { return nil }
        return Finding(.uploading, "The device is uploading \(count(Int64(facts.uploads.inProgress), "file")).")
    }

    private static func withoutUploads(_ facts: DeviceFacts) -> Finding? {
        guard let last = facts.uploads.lastCompletedAt else {
            return Finding(.noUploads, "The device calls, but has not uploaded anything that is still known.")
        }
        guard facts.now.duration(since: last) >= silence else { return nil }
        let rate = before(facts).map { " Before that it made \($0)." } ?? ""
        return Finding(.noUploads, "The device calls, but its last upload was \(ago(last, facts)).\(rate)")
    }

    private static func inOrder(_ facts: DeviceFacts) -> Finding {
        let upload = facts.uploads.lastCompletedAt.map { ", and its last upload was \(ago($0, facts))" } ?? ""
        let seen = facts.device.lastSeenAt.map { "was last heard of \(ago($0, facts))" } ?? "has a key"
        return Finding(.inOrder, "The device \(seen)\(upload).")
    }

    // MARK: Texts

    /// Returns the sentence about calls that were refused because of the key's state.
    private static func callsSince(_ facts: DeviceFacts) -> String {
        let codes = keyCodes.map(\.rawValue)
        // A reason that ended before the device was heard of again is over.
        let refusals = facts.refusals.filter { refusal in
            codes.contains(refusal.reason) && facts.device.lastSeenAt.map { refusal.lastAt >= $0 } ?? true
        }
        guard let first = refusals.map(\.firstAt).min(), let last = refusals.map(\.lastAt).max() else {
            return "There was no call since."
        }
        let number = refusals.reduce(0) { $0 + $1.count }
        return """
            Calls continue: \(count(number, "refused call")), the first one \(ago(first, facts)), the last one \
            \(ago(last, facts)).
            """
    }

    /// Returns the sentence about calls that only name the device; empty without any.
    private static func unproven(_ facts: DeviceFacts) -> String {
        guard let last = facts.unproven.first else { return "" }
        let number = facts.unproven.reduce(0) { $0 + $1.count }
        return """
             Calls that only name it were refused: \(count(number, "call")), the last one \(ago(last.lastAt, facts)) from \
            \(last.address) (\(last.reason)).
            """
    }

    /// Returns the rate of uploads before the last one; `nil` if none is known.
    private static func before(_ facts: DeviceFacts) -> String? {
        guard facts.uploads.lastCompletedAt != nil else { return nil }
        return "\(count(Int64(facts.uploads.completedPerDay), "upload")) a day"
    }

    private static func ago(_ time: UnixTime, _ facts: DeviceFacts) -> String {
        "\(span(facts.now.duration(since: time))) ago"
    }

    private static func count(_ number: Int64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Returns a length of time in its largest unit, e.g. `3 hours`.
    private static func span(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        let units: [(size: Int64, name: String)] = [(86_400, "day"), (3600, "hour"), (60, "minute")]
        for unit in units where seconds >= unit.size { return count(seconds / unit.size, unit.name) }
        return count(seconds, "second")
    }
}
