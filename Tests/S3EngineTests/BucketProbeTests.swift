import Basics
import Crypto
import HTTPTypes
import StoreClient
import StoreProtocol
import StoreTesting
import TestSupport
import Testing

@testable import S3Engine

@Suite(.timeLimited) struct BucketProbeTests {
    private static let fence = BucketFinding(
        .fact, "The engine honors conditional PUT: a second gateway on the prefix is refused at once.")

    private func run(_ store: FakeS3, prefix: String = "gateway/") async throws -> BucketReport {
        try await BucketProbe.run(store.configuration(prefix: prefix), store.client(), clock: store.clock)
    }

    /// Returns the findings about a bucket with a property, without those about a usual bucket.
    private func findings(
        _ property: String, _ document: String, prefix: String = "gateway/", rules: String? = nil
    ) async throws -> [BucketFinding] {
        let store = try FakeS3()
        store.change { behavior in
            behavior.properties[property] = FakeS3.Response(body: document)
            if let rules { behavior.properties["lifecycle"] = FakeS3.Response(body: rules) }
        }
        let report = try await run(store, prefix: prefix)
        #expect(report.findings.contains(Self.fence))
        return report.findings.filter { $0 != Self.fence }
    }

    private static func rules(_ rule: String) -> String {
        "<LifecycleConfiguration><Rule><ID>r1</ID><Status>Enabled</Status>\(rule)</Rule></LifecycleConfiguration>"
    }

    // MARK: Objects

    @Test func usualBucketHasNoFaults() async throws {
        let store = try FakeS3()
        let report = try await run(store)
        #expect(report.findings == [Self.fence])
        #expect(!report.isRefused && report.honorsConditions && report.hasMD5ETags && report.removesMany)
        #expect(!report.comparesBareTags)
        #expect(store.objects.isEmpty)
        let methods = Set(store.requests.filter { $0.property == nil }.map(\.method))
        #expect(methods == ["PUT", "GET", "HEAD", "POST"])
        #expect(store.requests.allSatisfy { $0.key.isEmpty || $0.key.hasPrefix("gateway/probe/") })
    }

    @Test func ownStoreHasNoFaults() async throws {
        let store = try TestBucket()
        let report = try await BucketProbe.run(store.configuration(), store.client(), clock: SystemClock())
        #expect(report.findings == [Self.fence])
        #expect(report.honorsConditions && report.hasMD5ETags && report.removesMany)
    }

    @Test(arguments: [
        (true, false, "If-Match"), (false, true, "If-None-Match: *"), (false, false, "If-None-Match: * and If-Match"),
    ])
    func ignoredConditionsTurnTheFenceOff(honorsNew: Bool, honorsMatch: Bool, ignored: String) async throws {
        let store = try FakeS3()
        store.change { ($0.honorsNew, $0.honorsMatch) = (honorsNew, honorsMatch) }
        let report = try await run(store)
        #expect(!report.honorsConditions && !report.isRefused)
        #expect(report.findings.map(\.severity) == [.warning])
        #expect(report.findings.first?.message.hasPrefix("The engine ignores \(ignored) of a PUT") == true)
    }

    @Test func lostMetadataAreRefused() async throws {
        let store = try FakeS3()
        store.change { $0.keepsMetadata = false }
        let report = try await run(store)
        #expect(report.isRefused)
        #expect(report.findings.first { $0.severity == .refusal }?.message.contains("metadata") == true)
    }

    @Test func formOfTagsIsFound() async throws {
        let store = try FakeS3()
        store.change { $0.comparesBareTags = true }
        let report = try await run(store)
        #expect(report.honorsConditions && report.comparesBareTags)
        #expect(report.findings == [Self.fence])
    }

    @Test func tagThatIsNeverRecognizedTurnsTheFenceOff() async throws {
        let store = try FakeS3()
        store.change { behavior in
            behavior.intercept = { $0.fields["if-match"] == nil ? nil : .error(412, "PreconditionFailed") }
        }
        let report = try await run(store)
        #expect(!report.honorsConditions && !report.isRefused)
        #expect(report.findings.map(\.severity) == [.warning])
    }

    @Test func unknownConditionsTurnTheFenceOff() async throws {
        let store = try FakeS3()
        store.change { behavior in
            behavior.intercept = { $0.fields["if-none-match"] == nil ? nil : .error(501, "NotImplemented") }
        }
        let report = try await run(store)
        #expect(!report.honorsConditions && !report.isRefused)
    }

    @Test func otherETagsAreReported() async throws {
        let store = try FakeS3()
        store.change { $0.hasMD5ETags = false }
        let report = try await run(store)
        #expect(!report.hasMD5ETags)
        #expect(report.findings.last?.severity == .warning)
        #expect(report.findings.last?.message.hasPrefix("The ETag of an object is not its MD5") == true)
    }

    @Test func wrongBytesAreRefused() async throws {
        let store = try FakeS3()
        store.change { $0.alter = { $0.map { $0 == UInt8(ascii: "b") ? UInt8(ascii: "x") : $0 } } }
        let report = try await run(store)
        #expect(report.findings.contains(BucketFinding(.refusal, "The engine returned other bytes than were stored.")))
        #expect(report.findings.contains { $0.message.contains("other bytes than the range") })
    }

    @Test func missingObjectInTheListIsRefused() async throws {
        let store = try FakeS3()
        store.change { behavior in
            behavior.intercept = {
                $0.query.contains("list-type") ? FakeS3.Response(body: "<ListBucketResult></ListBucketResult>") : nil
            }
        }
        #expect(try await run(store).findings.contains { $0.message.contains("A list of the bucket does not contain") })
    }

    @Test func objectThatStaysIsRefused() async throws {
        let store = try FakeS3()
        store.change { $0.removes = false }
        #expect(try await run(store).findings.contains { $0.message.hasSuffix("exists after its removal.") })
    }

    @Test func singleRemovalsAreReported() async throws {
        let store = try FakeS3()
        store.change { $0.intercept = { $0.method == "POST" ? .error(501, "NotImplemented") : nil } }
        let report = try await run(store)
        #expect(!report.removesMany && !report.isRefused)
        #expect(store.objects.isEmpty)
    }

    // MARK: Rights and reachability

    @Test(arguments: [
        ("PUT", "s3:PutObject"), ("GET", "s3:GetObject"), ("list", "s3:ListBucket"), ("POST", "s3:DeleteObject"),
        ("versioning", "s3:GetBucketVersioning"), ("lifecycle", "s3:GetLifecycleConfiguration"),
        ("object-lock", "s3:GetBucketObjectLockConfiguration"),
    ])
    func missingRightIsNamed(request: String, right: String) async throws {
        let store = try FakeS3()
        store.change { behavior in
            behavior.intercept = { made in
                let isList = made.query.contains("list-type")
                let kind = made.property ?? (isList ? "list" : made.method)
                return kind == request ? .error(403, "AccessDenied") : nil
            }
        }
        let report = try await run(store)
        let named = report.findings.filter { $0.message.contains("allow \(right)") }
        #expect(!named.isEmpty)
        // The properties are for the operator's information.
        let isProperty = request.contains { $0.isLowercase } && request != "list"
        #expect(Set(named.map(\.severity)) == [isProperty ? .warning : .refusal])
        #expect(report.isRefused != isProperty)
    }

    @Test(arguments: [
        (404, "NoSuchBucket", "does not exist"), (403, "SignatureDoesNotMatch", "does not accept the credentials"),
        (301, "PermanentRedirect", "has another endpoint or region"), (403, "InvalidAccessKeyId", "refused to"),
        (403, "RequestTimeTooSkewed", "This machine's clock differs too much"),
        (400, "InvalidStorageClass", "refused to"),
    ])
    func unusableBucketIsRefused(status: Int, code: String, text: String) async throws {
        let store = try FakeS3()
        store.change { $0.intercept = { $0.method == "PUT" ? .error(status, code) : nil } }
        let report = try await run(store)
        #expect(report.findings.map(\.severity) == [.refusal])
        #expect(report.findings.first?.message.contains(text) == true)
    }

    @Test func unreachableEngineIsOneFinding() async throws {
        let store = try FakeS3()
        store.change { $0.intercept = { _ in FakeS3.Response(isLost: true) } }
        let report = try await run(store)
        #expect(report.findings.map(\.severity) == [.refusal])
        #expect(report.findings.first?.message.contains("cannot be used") == true)
    }

    // MARK: Clock

    @Test(arguments: [
        (0, nil), (4, nil), (-5, nil), (7, BucketFinding.Severity.warning), (-7, .warning), (299, .warning),
        (302, .refusal), (-302, .refusal),
    ])
    func clockDifferenceIsReported(seconds: Int, severity: BucketFinding.Severity?) async throws {
        let store = try FakeS3()
        let local = ManualClock()
        local.step(seconds: Int64(-seconds))
        let report = try await BucketProbe.run(store.configuration(), store.client(), clock: local)
        let found = report.findings.filter { $0 != Self.fence }
        #expect(found.map(\.severity) == (severity.map { [$0] } ?? []))
        let direction = seconds > 0 ? "behind" : "ahead of"
        #expect(found.allSatisfy { $0.message.contains("\(direction) the engine's") })
        // A Date is rounded down to the second.
        #expect(report.clockDifference == .seconds(seconds < 0 ? seconds + 1 : seconds))
    }

    @Test func missingDateIsReported() async throws {
        let store = try FakeS3()
        store.change { $0.hasDates = false }
        let report = try await run(store)
        #expect(report.clockDifference == nil)
        #expect(report.findings.contains { $0.severity == .warning && $0.message.contains("have no Date") })
    }

    // MARK: Properties

    @Test func versioningIsRefusedUnlessVersionsExpire() async throws {
        let enabled = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        let refused = try await findings("versioning", enabled)
        #expect(refused.map(\.severity) == [.refusal])
        #expect(refused.first?.message.contains("prefix \"gateway/\"") == true)
        let expiry = "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>"
        #expect(
            try await findings("versioning", enabled, rules: Self.rules("<Prefix></Prefix>\(expiry)")).map(\.severity)
                == [.warning])
        #expect(
            try await findings("versioning", enabled, rules: Self.rules("<Prefix>x</Prefix>\(expiry)")).map(\.severity)
                == [.refusal])
        let suspended = "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>"
        #expect(try await findings("versioning", suspended).map(\.severity) == [.warning])
        #expect(try await findings("versioning", "<VersioningConfiguration/>").isEmpty)
    }

    @Test(arguments: [
        ("<Prefix></Prefix>", "gateway/", true), ("<Prefix>gate</Prefix>", "gateway/", true),
        ("<Prefix>gateway/data/00</Prefix>", "gateway/", true), ("<Prefix>other/</Prefix>", "gateway/", false),
        ("<Filter><Prefix>gateway/</Prefix></Filter>", "gateway/", true), ("<Filter></Filter>", "gateway/", true),
        (
            "<Filter><And><Prefix>g</Prefix><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></And></Filter>",
            "gateway/", true
        ),
        ("<Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter>", "gateway/", false),
        ("<Filter><And><Prefix></Prefix><Tag><Key>a</Key></Tag></And></Filter>", "gateway/", false),
        ("<Prefix>logs/</Prefix>", "", true),
    ])
    func lifecycleRuleIsRefusedWhereItApplies(filter: String, prefix: String, applies: Bool) async throws {
        let found = try await findings(
            "lifecycle", Self.rules("\(filter)<Expiration><Days>30</Days></Expiration>"), prefix: prefix)
        #expect(found.map(\.severity) == (applies ? [.refusal] : []))
        #expect(found.allSatisfy { $0.message.contains("\"r1\" (Expiration)") })
    }

    @Test(arguments: [
        (
            "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>",
            true
        ),
        ("<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>", true),
        ("<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>", true),
        ("<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>", false),
        ("<Expiration><Date>2026-01-01T00:00:00Z</Date></Expiration>", false), ("<Unknown/>", false),
    ])
    func lifecycleActionsThatKeepObjectsAreHarmless(action: String, isHarmless: Bool) async throws {
        let found = try await findings("lifecycle", Self.rules("<Prefix></Prefix>\(action)"))
        #expect(found.map(\.severity) == (isHarmless ? [] : [.refusal]))
    }

    @Test func disabledLifecycleRuleIsHarmless() async throws {
        let rule = "<Rule><Status>Disabled</Status><Prefix/><Expiration><Days>1</Days></Expiration></Rule>"
        #expect(try await findings("lifecycle", "<LifecycleConfiguration>\(rule)</LifecycleConfiguration>").isEmpty)
    }

    @Test func defaultRetentionIsRefused() async throws {
        func lock(_ rule: String) -> String {
            "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>\(rule)</ObjectLockConfiguration>"
        }
        #expect(try await findings("object-lock", lock("")).map(\.severity) == [.warning])
        let rule = "<Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule>"
        #expect(try await findings("object-lock", lock(rule)).map(\.severity) == [.refusal])
    }

    @Test(arguments: [
        (404, "NoSuchLifecycleConfiguration"), (405, "MethodNotAllowed"), (501, "NotImplemented"),
        (400, "NotImplemented"),
    ])
    func unknownPropertiesAreNoFaults(status: Int, code: String) async throws {
        let store = try FakeS3()
        store.change { behavior in
            behavior.intercept = { $0.property == nil ? nil : .error(status, code) }
        }
        #expect(try await run(store).findings == [Self.fence])
    }
}
