import Basics
import GRPCWire
import GatewayTesting
import RPC
import TestSupport
import Testing

@testable import ShareCodes

/// The rules for the fields of requests.
@Suite(.timeLimited) struct ShareCodeFieldTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    @Test(arguments: ["A1B2C3", "a1b2c3", "000000", "ABCDEFGH"])
    func codesOfSixOrEightLettersAndDigitsAreAccepted(_ text: String) throws {
        #expect(try ShareCode(text).text == text)
        #expect(try ShareCode(text).key == text.uppercased())
    }

    @Test(arguments: ["", "A1B2C", "A1B2C34", "A1B2C3D4E", "A1B2C-", "A1B2C ", "Ä1B2C", "１２３４５６", "A1B2C\0"])
    func otherCodesAreRefusedWithTheNameOfTheField(_ text: String) {
        let error = #expect(throws: RPCError.self) { _ = try ShareCode(text) }
        #expect(error?.summary == "INVALID_ARGUMENT shareCode")
        #expect(error?.message == "shareCode must be 6 or 8 letters and digits")
    }

    @Test func codesAreComparedWithoutCase() throws {
        #expect(try Set([ShareCode("a1b2c3"), ShareCode("A1B2C3"), ShareCode("A1b2C3")]).count == 1)
    }

    @Test(arguments: ["abc123...", "uuid-here", "a", "_", String(repeating: "x", count: 128)])
    func idsOfAppsAreAccepted(_ text: String) throws {
        #expect(try ShareCodeFields.id(text, field: "umid") == text)
    }

    @Test(arguments: ["", "a b", "ü", "a/b", "a\n", String(repeating: "x", count: 129)])
    func otherIDsAreRefused(_ text: String) {
        let error = #expect(throws: RPCError.self) { try ShareCodeFields.id(text, field: "fromUserId") }
        #expect(error?.summary == "INVALID_ARGUMENT fromUserId")
    }

    @Test func encryptedDataHasOneByteToSixteenKibibytes() throws {
        #expect(try ShareCodeFields.data("x") == "x")
        #expect(try ShareCodeFields.data(String(repeating: "x", count: 16_384)).utf8.count == 16_384)
        for text in ["", String(repeating: "x", count: 16_385), String(repeating: "ü", count: 8193)] {
            #expect(throws: RPCError.self) { _ = try ShareCodeFields.data(text) }
        }
    }

    @Test func messageHasAtMostFiveHundredCharacters() throws {
        #expect(try ShareCodeFields.message("") == "")
        #expect(try ShareCodeFields.message(String(repeating: "查", count: 500)).unicodeScalars.count == 500)
        // One character for a reader, but any number of scalars.
        let stacked = "e" + String(repeating: "\u{301}", count: 500)
        for text in [String(repeating: "查", count: 501), stacked] {
            #expect(throws: RPCError.self) { _ = try ShareCodeFields.message(text) }
        }
    }

    @Test(arguments: [
        (Int32?.some(5), "", 300), (.some(1), "", 60), (.some(10_080), "", 604_800),
        // A phone's wrong clock: the end is in the past.
        (.some(5), "2024-01-20T10:05:00Z", 300), (nil, "2024-01-20T10:05:00Z", 300),
        // Shorter, and in the future.
        (.some(5), "2027-01-15T08:01:00Z", 60), (nil, "2027-01-15T16:02:00+08:00", 120),
        // Longer.
        (.some(5), "2027-01-15T09:00:00Z", 300), (.some(5), "9999-12-31T23:59:59Z", 300),
    ])
    func endFollowsTheGatewaysClock(_ minutes: Int32?, _ expiresAt: String, _ seconds: Int64) throws {
        let period = try ShareCodePeriod(minutes: minutes, expiresAt: expiresAt, now: Self.now)
        #expect(period.end == Self.now.adding(seconds: seconds))
        #expect(period.minutes == Int(minutes ?? 5))
    }

    @Test func endIsAWholeSecond() throws {
        let now = Self.now.adding(microseconds: 900_000)
        #expect(try ShareCodePeriod(minutes: 1, expiresAt: "", now: now).end == Self.now.adding(seconds: 60))
        let half = try ShareCodePeriod(minutes: 1, expiresAt: "2027-01-15T08:00:01.5Z", now: Self.now)
        #expect(half.end == Self.now.adding(seconds: 2))
    }

    @Test(arguments: [
        (Int32?.none, "", "validityMinutes"), (.some(0), "", "validityMinutes"), (.some(-5), "", "validityMinutes"),
        (.some(10_081), "", "validityMinutes"), (.some(5), "tomorrow", "expiresAt"),
        (.some(5), "2024-01-20", "expiresAt"),
    ])
    func periodsOutsideTheirBoundsAreRefused(_ minutes: Int32?, _ expiresAt: String, _ field: String) {
        let error = #expect(throws: RPCError.self) {
            _ = try ShareCodePeriod(minutes: minutes, expiresAt: expiresAt, now: Self.now)
        }
        #expect(error?.summary == "INVALID_ARGUMENT \(field)")
    }

    @Test func tokensAreReadBackAndOthersAreRefused() {
        let token = UmidToken()
        let key = [UInt8](repeating: 1, count: 32)
        #expect(token.text.hasPrefix("dgwu"))
        #expect(token.text.utf8.count == 60)
        #expect(UmidToken(text: token.text)?.id == token.id)
        #expect(UmidToken(text: token.text)?.digest(key: key) == token.digest(key: key))
        #expect(UmidToken().digest(key: key) != token.digest(key: key))
        for text in ["", "dgwu", String(token.text.dropLast()), token.text + "A", "dgwr" + token.text.dropFirst(4)] {
            #expect(UmidToken(text: text) == nil, "\(text)")
        }
    }

    @Test func textsOpenOnlyInTheirPlace() throws {
        let contents = SealedContents(key: [UInt8](repeating: 2, count: 32))
        let sealed = contents.seal("hello", in: .code("A1B2C3", umid: "ada"))
        #expect(try contents.open(sealed, in: .code("A1B2C3", umid: "ada")) == "hello")
        for place in [
            SealedContents.Place.code("A1B2C3", umid: "bob"), .code("A1B2C4", umid: "ada"), .message(requestID: "ada"),
        ] {
            let error = #expect(throws: RPCError.self) { try contents.open(sealed, in: place) }
            #expect(error?.status == .internalError)
        }
    }
}
