import Accounts
import Basics
import Proto
import TestSupport
import Testing

@testable import DeviceInit

/// The rules of a device's diagnosis.
@Suite(.timeLimited) struct DiagnosisRulesTests {
    private static let now = UnixTime(seconds: 100 * 86_400)

    private static func before(_ duration: Duration) -> UnixTime { now.subtracting(duration) }

    /// A device whose key works, which called a minute ago, and uploaded 13 files a day until then.
    private static func facts(
        seenAt: UnixTime? = before(.minutes(1)), isBound: Bool = true, isDisabled: Bool = false,
        isInitialized: Bool = true, _ configure: (inout DeviceFacts) -> Void = { _ in }
    ) -> DeviceFacts {
        var facts = DeviceFacts(
            device: DeviceRecord(
                id: "260427-000001", organizationID: 1, suiteID: isBound ? 1 : nil, siteID: isBound ? 1 : nil,
                displayName: "", description: "", tags: [:], isDisabled: isDisabled,
                initializedAt: isInitialized ? UnixTime(seconds: 0) : nil, sdkVersion: "", platform: "",
                lastSeenAt: seenAt, reinitAllowedUntil: nil, createdAt: UnixTime(seconds: 0),
                updatedAt: UnixTime(seconds: 0), addressSerial: nil),
            siteStatus: isBound ? .enabled : nil, key: DeviceKeys.State(usability: .usable, lastUsedAt: seenAt),
            now: now)
        facts.uploads.lastCompletedAt = before(.minutes(2))
        facts.uploads.completedPerDay = 13
        configure(&facts)
        return facts
    }

    private static func refusal(_ reason: String, _ message: String, _ count: Int64 = 12) -> RefusalRecord {
        RefusalRecord(
            reason: reason, message: message, count: count, firstAt: before(.days(2)), lastAt: before(.seconds(30)))
    }

    private static let disabledKey = refusal("AUTH_KEY_DISABLED", "the key is disabled")
    private static let calls = """
        Calls continue: 12 refused calls, the first one 2 days ago, the last one 30 seconds ago.
        """

    private static func with(clock offset: Int64, notedBefore age: Duration = .seconds(30)) -> DeviceFacts {
        var facts = facts()
        var device = facts.device
        device.clock = DeviceClock(offset: offset, notedAt: before(age))
        facts = DeviceFacts(
            device: device, siteStatus: facts.siteStatus, key: facts.key, uploads: facts.uploads, now: now)
        return facts
    }

    private static func failure(_ reason: String, _ age: Duration) -> DeviceUploadActivity.Failure {
        DeviceUploadActivity.Failure(uploadID: "u", fileName: "a.mcap", beganAt: before(age), reason: reason)
    }

    private static var retired: DeviceFacts {
        var device = facts(isBound: false).device
        device.retiredAt = before(.days(3))
        return DeviceFacts(device: device, now: now)
    }

    struct Row: Sendable {
        let facts: DeviceFacts
        let condition: DeviceCondition
        let sentence: String

        init(_ facts: DeviceFacts, _ condition: DeviceCondition, _ sentence: String) {
            (self.facts, self.condition, self.sentence) = (facts, condition, sentence)
        }
    }

    static var rows: [Row] {
        [
            Row(retired, .retired, "The device was retired 3 days ago."),
            Row(
                facts(seenAt: nil, isInitialized: false) { $0.key = nil }, .neverCalled,
                "The device never called: it has not fetched its key."),
            Row(
                facts(seenAt: nil, isBound: false, isInitialized: false) { $0.key = nil }, .neverCalled,
                "The device never called: it is in no suite, and cannot fetch its key."),
            Row(
                facts(seenAt: nil, isInitialized: false) {
                    $0.key = nil
                    $0.unproven = [
                        .init(address: "192.0.2.7", reason: "NOT_READY", count: 2, lastAt: before(.minutes(3))),
                        .init(address: "192.0.2.8", reason: "NOT_READY", count: 5, lastAt: before(.minutes(4))),
                    ]
                }, .neverCalled,
                """
                The device never called: it has not fetched its key. Calls that only name it were refused: 7 calls, the \
                last one 3 minutes ago from 192.0.2.7 (NOT_READY).
                """),
            Row(
                facts(isDisabled: true) { $0.refusals = [disabledKey] }, .disabled, "The device is disabled. \(calls)"),
            Row(facts(isDisabled: true), .disabled, "The device is disabled. There was no call since."),
            Row(
                facts(isBound: false) { $0.refusals = [disabledKey] }, .noSuite,
                "The device is in no suite, so its key does not work. \(calls)"),
            Row(
                facts {
                    $0.siteStatus = .disabled
                    $0.refusals = [refusal("AUTH_SITE_DISABLED", "the site of the key is disabled")]
                }, .siteDisabled, "The site of the device's suite is disabled. \(calls)"),
            Row(facts { $0.key = nil }, .noKey, "The device has no key."),
            Row(
                facts {
                    $0.key = DeviceKeys.State(usability: .disabled, lastUsedAt: nil)
                    $0.refusals = [disabledKey]
                }, .keyDisabled, "The device's key is disabled. \(calls)"),
            // It was enabled again after those calls.
            Row(
                facts(seenAt: before(.seconds(10))) {
                    $0.key = DeviceKeys.State(usability: .disabled, lastUsedAt: nil)
                    $0.refusals = [disabledKey]
                }, .keyDisabled, "The device's key is disabled. There was no call since."),
            Row(
                facts { $0.key = DeviceKeys.State(usability: .expired, lastUsedAt: nil) }, .keyExpired,
                "The device's key has expired. There was no call since."),
            Row(with(clock: 3 * 3600 + 59), .clockWrong, "The device's clock is 3 hours ahead."),
            Row(with(clock: -120), .clockWrong, "The device's clock is 2 minutes behind."),
            Row(
                with(clock: -120, notedBefore: .hours(2)), .inOrder,
                "The device was last heard of 1 minute ago, and its last upload was 2 minutes ago."),
            Row(
                facts { $0.refusals = [refusal("DATA_GATEWAY_STS_UNAVAILABLE", "the disk is full", 1)] }, .callsRefused,
                """
                The device's calls are refused: the disk is full (1 call, the first one 2 days ago, the last one \
                30 seconds ago).
                """),
            Row(
                facts { $0.refusals = [refusal("DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE", "the upload was aborted")] },
                .inOrder, "The device was last heard of 1 minute ago, and its last upload was 2 minutes ago."),
            Row(
                facts {
                    $0.uploads.failures = [
                        failure("disk full", .minutes(1)), failure("?", .seconds(90)), failure("old", .hours(1)),
                    ]
                }, .uploadsFail, "The device's last 2 uploads failed: disk full (begun 1 minute ago)."),
            Row(
                facts {
                    $0.uploads.failures = [failure("disk full", .minutes(1))]
                    $0.uploads.lastCompletedAt = nil
                }, .uploadsFail, "The device's last upload failed: disk full (begun 1 minute ago)."),
            Row(
                facts(seenAt: before(.days(16))) { $0.uploads.lastCompletedAt = before(.days(16)) }, .silent,
                """
                The device was last heard of 16 days ago, and nothing was refused. Before that it made 13 uploads a day.
                """),
            Row(
                facts(seenAt: before(.days(1))) { $0.uploads = DeviceUploadActivity() }, .silent,
                "The device was last heard of 1 day ago, and nothing was refused."),
            // Its key was disabled and enabled again, and it did not call since.
            Row(
                facts(seenAt: before(.days(4))) {
                    $0.refusals = [disabledKey]
                    $0.uploads.lastCompletedAt = before(.days(4))
                }, .silent,
                """
                The device was last heard of 4 days ago, and last refused 30 seconds ago: the key is disabled. Before that it \
                made 13 uploads a day.
                """),
            // Its key was replaced, and it still uses the old one.
            Row(
                facts(seenAt: before(.days(4))) {
                    $0.uploads.lastCompletedAt = before(.days(4))
                    $0.unproven = [
                        .init(
                            address: "192.0.2.7", reason: "AUTH_INVALID_CREDENTIAL", count: 1,
                            lastAt: before(.minutes(3)))
                    ]
                }, .silent,
                """
                The device was last heard of 4 days ago. Before that it made 13 uploads a day. Calls that only name it were \
                refused: 1 call, the last one 3 minutes ago from 192.0.2.7 (AUTH_INVALID_CREDENTIAL).
                """),
            Row(facts { $0.uploads.inProgress = 2 }, .uploading, "The device is uploading 2 files."),
            Row(
                facts { $0.uploads.lastCompletedAt = before(.days(5)) }, .noUploads,
                "The device calls, but its last upload was 5 days ago. Before that it made 13 uploads a day."),
            Row(
                facts { $0.uploads = DeviceUploadActivity() }, .noUploads,
                "The device calls, but has not uploaded anything that is still known."),
            Row(
                facts(), .inOrder,
                "The device was last heard of 1 minute ago, and its last upload was 2 minutes ago."),
        ]
    }

    @Test(arguments: rows)
    func firstRuleThatAppliesMakesTheSentence(_ row: Row) {
        let finding = DiagnosisRules.finding(row.facts)
        #expect(finding.condition == row.condition)
        #expect(finding.sentence == row.sentence)
    }

    @Test func everyConditionHasARow() {
        #expect(Set(Self.rows.map(\.condition)).count == 15)
    }
}
