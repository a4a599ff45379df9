import AppProto
import Basics
import Capability
import Database
import GRPCWire
import GatewayTesting
import RPC
import TestSupport
import Testing

@testable import ShareCodes

@Suite(.timeLimited) struct ShareCodeRegistryTests {
    @Test func registeredCodeIsTakenAndIsFoundInAnyCase() async throws {
        let codes = try TestShareCodes()
        #expect(try await codes.isUnique("A1B2C3"))
        let response = try await codes.register("A1b2C3", umid: "ada")
        #expect(response.success && response.shareCode == "A1b2C3")
        #expect(response.expiresAt == "2026-01-01T00:05:00Z")
        #expect(try await !codes.isUnique("a1b2c3"))
        let shared = try await codes.lookUp("a1b2c3")
        #expect(
            shared
                == SharedData(
                    shareCode: "a1b2c3", encryptedData: "sealed by the app",
                    expiresAt: "2026-01-01T00:05:00Z"))
    }

    @Test func oneOfManyRegistrationsAtOnceGetsTheCode() async throws {
        let codes = try TestShareCodes()
        let outcomes = await withTaskGroup(of: RPCError?.self) { group in
            for number in 0..<64 {
                group.addTask {
                    await refusal { try await codes.register("RACE01", umid: "u\(number)", host: "10.0.0.\(number)") }
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1?.status.name ?? "OK", default: 0] += 1 }
        }
        #expect(outcomes == ["OK": 1, "ALREADY_EXISTS": 63])
        #expect(try codes.count("share_codes") == 1)
    }

    @Test func ownerReplacesDataAndEndOfACode() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        codes.advance(.minutes(4))
        try await codes.register("a1b2c3", data: "later")
        codes.advance(.minutes(4))
        #expect(try await codes.lookUp("A1B2C3").encryptedData == "later")
        let other = await refusal { try await codes.register("A1B2C3", umid: "bob") }
        #expect(other?.summary == "ALREADY_EXISTS")
        #expect(try codes.count("share_codes") == 1)
    }

    @Test func codeOfAClaimedUmidIsReplacedWithItsTokenOnly() async throws {
        let codes = try TestShareCodes()
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        let end = try await codes.replace("A1B2C3", minutes: 60, token: ada).expiresAt
        for token in [nil, bob] {
            let replaced = await refusal { try await codes.replace("A1B2C3", data: "a stranger's", token: token) }
            #expect(replaced?.detail == .umidUnauthorized)
            // A repetition has the first response, and shortens nothing.
            #expect(try await codes.replace("A1B2C3", minutes: 1, token: token).expiresAt == end)
        }
        #expect(try await codes.lookUp("A1B2C3").encryptedData == "sealed by the app")
        #expect(try await codes.lookUp("A1B2C3").expiresAt == end)
        let forged = await refusal { try await codes.replace("A1B2C3", token: "dgwuAAAA") }
        #expect(forged?.status == .unauthenticated)
        try await codes.replace("A1B2C3", data: "later", minutes: 5, token: ada)
        #expect(try await codes.lookUp("A1B2C3").encryptedData == "later")
        // While an ended code is reserved, it is still the owner's.
        codes.advance(.minutes(6))
        let revived = await refusal { try await codes.replace("A1B2C3", data: "later", token: nil) }
        #expect(revived?.status == .unauthenticated)
        try await codes.replace("A1B2C3", data: "again", token: ada)
    }

    /// Otherwise a stranger could use up the codes of the umid.
    @Test func newCodeOfAClaimedUmidNeedsItsToken() async throws {
        let codes = try TestShareCodes()
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        for token in [nil, bob] {
            let refused = await refusal { try await codes.replace("A1B2C3", token: token) }
            #expect(refused?.detail == .umidUnauthorized)
        }
        #expect(try await codes.isUnique("A1B2C3"))
        try await codes.replace("A1B2C3", token: ada)
    }

    @Test func umidHasAtMostTenLiveCodes() async throws {
        let codes = try TestShareCodes()
        for number in 0..<10 { try await codes.register("CODE0\(number)") }
        let refused = await refusal { try await codes.register("CODE10") }
        #expect(refused?.status == .resourceExhausted)
        #expect(refused?.retryAfterMilliseconds == 301_000)
        // Its own codes can be replaced, and others can register further ones.
        try await codes.register("CODE09", data: "later")
        try await codes.register("CODE10", umid: "bob")
        codes.advance(.minutes(6))
        try await codes.register("CODE11")
    }

    @Test func gatewayHasAtMostTheConfiguredNumberOfCodes() async throws {
        let codes = try TestShareCodes { ($0.liveCodes, $0.percentOfAddress) = (2, 100) }
        try await codes.register("CODE01", umid: "a")
        try await codes.register("CODE02", umid: "b")
        let refused = await refusal { try await codes.register("CODE03", umid: "c") }
        #expect(refused?.status == .resourceExhausted)
        try await codes.register("CODE02", umid: "b", data: "later")
        codes.advance(.minutes(6))
        _ = try await codes.sweep()
        try await codes.register("CODE03", umid: "c")
    }

    @Test func addressHasItsPartOfTheCodes() async throws {
        let codes = try TestShareCodes { ($0.liveCodes, $0.percentOfAddress) = (20, 10) }
        for number in 1...2 {
            try await codes.register("CODE0\(number)", umid: "u\(number)", host: "2001:db8::\(number)")
        }
        let refused = await refusal { try await codes.register("CODE03", umid: "u3", host: "2001:db8::3") }
        #expect(refused?.status == .resourceExhausted)
        #expect(refused?.message.contains("the address has") == true)
        try await codes.register("CODE02", umid: "u2", data: "later", host: "2001:db8::3")
        try await codes.register("CODE03", umid: "u3", host: "2001:db8:0:1::1")
        codes.advance(.minutes(5))
        try await codes.register("CODE04", umid: "u4", host: "2001:db8::3")
        _ = try await codes.sweep()
        let origins = try codes.database.readBlocking {
            try $0.query("SELECT origin FROM share_codes WHERE origin IS NOT NULL") { $0.blob("origin") }
        }
        #expect(origins.map(\.count) == [16], "the addresses of ended codes are erased")
    }

    @Test func addressHasItsPartOfTheUmids() async throws {
        let codes = try TestShareCodes { ($0.umids, $0.percentOfAddress) = (200, 1) }
        for number in 1...2 { _ = try await codes.claim("u\(number)") }
        let refused = await refusal { _ = try await codes.claim("u3") }
        #expect(refused?.status == .resourceExhausted)
        _ = try await codes.claim("u3", host: "192.0.2.8")
    }

    // MARK: Time

    @Test func umidWhoseTokenIsNotUsedCanBeClaimedAgain() async throws {
        let codes = try TestShareCodes()
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        codes.advance(.days(179))
        _ = try await codes.inbox(ada)
        codes.advance(.days(1))
        #expect(try await codes.sweep() == [:])
        codes.advance(.seconds(1))
        #expect(try await codes.sweep() == ["umids": 1])
        let removed = await refusal { _ = try await codes.inbox(bob) }
        #expect(removed?.status == .unauthenticated)
        _ = try await codes.claim("bob")
        _ = try await codes.inbox(ada)
    }

    @Test func codeEndsIsErasedBecomesFreeAndIsRemoved() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        codes.advance(.seconds(299))
        #expect(try await codes.sweep() == [:])
        #expect(try await codes.lookUp("A1B2C3").encryptedData == "sealed by the app")
        // The end.
        codes.advance(.seconds(1))
        let ended = await refusal { _ = try await codes.lookUp("A1B2C3") }
        #expect(ended?.summary == "NOT_FOUND")
        #expect(try sealed(codes).map(\.isEmpty) == [false])
        #expect(try await codes.sweep() == ["share_code_data": 1])
        #expect(try sealed(codes).map(\.isEmpty) == [true])
        // Reserved for a day.
        codes.advance(.hours(24) - .seconds(1))
        #expect(try await !codes.isUnique("A1B2C3"))
        let early = await refusal { try await codes.register("A1B2C3", umid: "bob") }
        #expect(early?.summary == "ALREADY_EXISTS")
        codes.advance(.seconds(1))
        #expect(try await codes.isUnique("A1B2C3"))
        // The row stays for statistics.
        codes.advance(.days(29))
        #expect(try await codes.sweep() == [:])
        #expect(try codes.count("share_codes") == 1)
        codes.advance(.seconds(1))
        #expect(try await codes.sweep() == ["share_codes": 1])
        #expect(try codes.count("share_codes") == 0)
    }

    @Test func freeCodePassesToAnotherUmid() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        codes.advance(.hours(24) + .minutes(5))
        try await codes.register("A1B2C3", umid: "bob", data: "of bob")
        #expect(try await codes.lookUp("A1B2C3").encryptedData == "of bob")
    }

    @Test func nothingIsErasedWhileTheClockIsNotTrusted() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        codes.clock.step(seconds: 40 * 86_400)
        #expect(try await codes.sweep() == [:])
        codes.clock.step(seconds: -40 * 86_400)
        #expect(try await codes.lookUp("A1B2C3").encryptedData == "sealed by the app")
    }

    @Test func dataIsEncryptedAtRest() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3", data: "a text that must not be found")
        let stored = try sealed(codes)
        #expect(stored.count == 1)
        #expect(stored[0].count == "a text that must not be found".utf8.count + 28)
        #expect(!String(decoding: stored[0], as: UTF8.self).contains("text"))
        try codes.database.writeBlocking {
            _ = try $0.execute("UPDATE share_codes SET umid = 'bob'")
        }
        let moved = await refusal { _ = try await codes.lookUp("A1B2C3") }
        #expect(moved?.status == .internalError)
    }

    private func sealed(_ codes: TestShareCodes) throws -> [[UInt8]] {
        try codes.database.readBlocking { try $0.query("SELECT sealed FROM share_codes") { $0.blob("sealed") } }
    }

    // MARK: Limits

    @Test func walkThroughCodesIsStoppedForItsAddressOnly() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        var outcomes: [String: Int] = [:]
        for number in 0..<100 {
            let error = await refusal { _ = try await codes.lookUp("X\(10_000 + number)", host: "198.51.100.9") }
            outcomes[error?.status.name ?? "OK", default: 0] += 1
        }
        #expect(outcomes == ["NOT_FOUND": 30, "RESOURCE_EXHAUSTED": 70])
        // A right guess learns nothing beyond the limit.
        let stopped = await refusal { _ = try await codes.lookUp("A1B2C3", host: "198.51.100.9") }
        #expect(stopped?.status == .resourceExhausted)
        #expect((1...60_000).contains(stopped?.retryAfterMilliseconds ?? 0))
        #expect(try await codes.lookUp("A1B2C3").encryptedData == "sealed by the app")
        codes.advance(.seconds(2))
        #expect(try await codes.lookUp("A1B2C3", host: "198.51.100.9").encryptedData == "sealed by the app")
        #expect(metric(codes, "data_gateway_share_codes_misses_total") == ["30"])
    }

    @Test func lookupsThatSucceedAreNotLimited() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        for _ in 0..<200 { #expect(try await codes.lookUp("A1B2C3").encryptedData == "sealed by the app") }
    }

    @Test func walkAtOnceIsStoppedAtTheSameLimit() async throws {
        let codes = try TestShareCodes()
        let outcomes = await withTaskGroup(of: RPCError?.self) { group in
            for number in 0..<100 {
                group.addTask { await refusal { _ = try await codes.lookUp("X\(10_000 + number)") } }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1?.status.name ?? "OK", default: 0] += 1 }
        }
        #expect(outcomes == ["NOT_FOUND": 30, "RESOURCE_EXHAUSTED": 70])
    }

    @Test func checksOfTakenCodesCountAsAWalk() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        for _ in 0..<30 { #expect(try await !codes.isUnique("A1B2C3")) }
        for code in ["A1B2C3", "FREE01"] {
            let error = await refusal { _ = try await codes.isUnique(code) }
            #expect(error?.status == .resourceExhausted)
        }
        // All addresses of a network that one host chooses from are one.
        for _ in 0..<60 { #expect(try await codes.isUnique("FREE01", host: "2001:db8::1")) }
        let error = await refusal { _ = try await codes.isUnique("FREE01", host: "2001:db8::2") }
        #expect(error?.status == .resourceExhausted)
        #expect(try await codes.isUnique("FREE01", host: "2001:db8:0:1::1"))
        #expect(metric(codes, "data_gateway_share_codes_checks_total") == ["61", "30"])
    }

    @Test func registrationsAndClaimsOfAnAddressAreLimited() async throws {
        let codes = try TestShareCodes()
        for number in 0..<20 { try await codes.register("C0DE\(number + 10)", umid: "u\(number)") }
        let registration = await refusal { try await codes.register("C0DE50", umid: "u") }
        #expect(registration?.status == .resourceExhausted)
        for number in 0..<5 { _ = try await codes.claim("u\(number)") }
        let claim = await refusal { _ = try await codes.claim("u") }
        #expect(claim?.status == .resourceExhausted)
        try await codes.register("C0DE50", umid: "u", host: "192.0.2.8")
    }

    // MARK: Collisions and metrics

    @Test func collisionsAreCountedWithoutTheCode() async throws {
        let codes = try TestShareCodes()
        func record(_ code: String, attempts: Int32, length: Int32) async throws {
            _ = try await codes.service.recordCollision(
                RecordCollisionRequest(
                    shareCode: code, attempts: attempts, codeLength: length, timestamp: "2024-01-20T10:00:00Z"),
                context: codes.call())
        }
        try await record("A1B2C3", attempts: 3, length: 6)
        try await record("A1B2C4", attempts: 2, length: 6)
        try await record("A1B2C3D4", attempts: 100, length: 8)
        let rows = try codes.database.readBlocking {
            try $0.query("SELECT code_length, events, attempts FROM collisions ORDER BY code_length") {
                [$0.int("code_length"), $0.int("events"), $0.int("attempts")]
            }
        }
        #expect(rows == [[6, 2, 5], [8, 1, 100]])
        #expect(metric(codes, "data_gateway_share_codes_collisions_total") == ["2", "1"])
        for (attempts, length, field) in [(0, 6, "attempts"), (101, 6, "attempts"), (3, 8, "codeLength")] {
            let error = await refusal { try await record("A1B2C3", attempts: Int32(attempts), length: Int32(length)) }
            #expect(error?.field == field)
        }
    }

    @Test func liveCodesAreCounted() async throws {
        let codes = try TestShareCodes()
        try await codes.register("A1B2C3")
        try await codes.register("A1B2C4", minutes: 60)
        #expect(metric(codes, "data_gateway_share_codes_live") == ["2"])
        codes.advance(.minutes(30))
        #expect(metric(codes, "data_gateway_share_codes_live") == ["1"])
    }

    private func metric(_ codes: TestShareCodes, _ name: String) -> [String] {
        codes.app.metrics.flatMap(\.families).filter { $0.name == name }.flatMap { $0.samples.map(\.value) }
    }

    // MARK: Errors

    @Test(arguments: [
        (DatabaseError.failed(code: 10, message: "disk I/O error"), "INTERNAL DATABASE_ERROR"),
        (.writerEnded, "INTERNAL DATABASE_ERROR"), (.outcomeUnknown, "INTERNAL DATABASE_ERROR"),
        (.full, "INTERNAL DATABASE_ERROR"),
        (.overloaded, "UNAVAILABLE"), (.closed, "UNAVAILABLE"),
    ])
    func databaseFailuresHaveTheirOwnCode(_ failure: DatabaseError, _ expected: String) {
        let error = RPCError.shareCodes(failure)
        #expect(error.summary == expected)
        #expect(error.cause as? DatabaseError == failure)
        #expect(!error.message.contains("I/O"))
    }

    @Test func healthTellsThatTheGatewayStops() async throws {
        let codes = try TestShareCodes()
        let context = codes.call()
        let health = try await codes.service.getHealth(GetHealthRequest(), context: context)
        #expect(
            health == ServiceHealth(status: "ok", timestamp: "2026-01-01T00:00:00Z", version: ProgramVersion.current))
        #expect(context.httpStatus == 200)
        codes.state.stopServing()
        let stopping = codes.call()
        #expect(try await codes.service.getHealth(GetHealthRequest(), context: stopping).status == "unavailable")
        #expect(stopping.httpStatus == 503)
    }
}
