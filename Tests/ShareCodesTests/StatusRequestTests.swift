import AppProto
import Basics
import Crypto
import Database
import GRPCWire
import GatewayTesting
import RPC
import TestSupport
import Testing

@testable import ShareCodes

@Suite(.timeLimited) struct StatusRequestTests {
    @Test func requestIsDeliveredAnsweredAndReadByItsSender() async throws {
        let codes = try TestShareCodes()
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        #expect(try await codes.ask("r1") == "pending")
        #expect(try await codes.sent("r1", token: bob).status == "pending")
        let inbox = try await codes.inbox(ada, status: "pending")
        #expect(
            inbox.requests == [
                ReceivedStatusRequest(
                    requestID: "r1", fromUserID: "bob", message: "how are you?", status: "pending",
                    createdAt: "2026-01-01T00:00:00Z")
            ])
        #expect(try await codes.ask("r1") == "delivered")
        #expect(try await codes.answer("r1", "accepted", data: "well", token: ada) == "accepted")
        let answered = try await codes.sent("r1", token: bob)
        #expect(answered == SentStatusRequest(requestID: "r1", status: "accepted", encryptedData: "well"))
        #expect(try await codes.inbox(ada).requests.isEmpty)
    }

    @Test func requestIDBelongsToOneRequest() async throws {
        let codes = try TestShareCodes()
        try await codes.ask("r1")
        #expect(try await codes.ask("r1") == "pending")
        for change in [("eve", "ada", "how are you?"), ("bob", "eve", "how are you?"), ("bob", "ada", "and now?")] {
            let error = await refusal {
                try await codes.ask("r1", from: change.0, to: change.1, message: change.2)
            }
            #expect(error?.summary == "ALREADY_EXISTS")
        }
        #expect(try codes.count("status_requests") == 1)
    }

    @Test func addressHasItsPartOfTheRequests() async throws {
        let codes = try TestShareCodes { ($0.storedStatusRequests, $0.percentOfAddress) = (200, 1) }
        for number in 1...2 { try await codes.ask("r\(number)", from: "b\(number)") }
        let refused = await refusal { try await codes.ask("r3") }
        #expect(refused?.status == .resourceExhausted)
        #expect(try await codes.ask("r1", from: "b1") == "pending")
        try await codes.ask("r3", host: "192.0.2.8")
    }

    @Test func requestsOfOneselfAndUnknownAnswersAreRefused() async throws {
        let codes = try TestShareCodes()
        let own = await refusal { try await codes.ask("r1", from: "ada", to: "ada") }
        #expect(own?.summary == "INVALID_ARGUMENT toUserId")
        let token = try await codes.claim("ada")
        try await codes.ask("r1")
        for status in ["", "pending", "ACCEPTED", "maybe"] {
            let error = await refusal { try await codes.answer("r1", status, token: token) }
            #expect(error?.summary == "INVALID_ARGUMENT status")
        }
        let large = await refusal {
            try await codes.answer("r1", "accepted", data: String(repeating: "x", count: 16_385), token: token)
        }
        #expect(large?.summary == "INVALID_ARGUMENT encryptedData")
    }

    @Test func onlyTheAddresseeAnswersOnceAndOnlyTheSenderReads() async throws {
        let codes = try TestShareCodes()
        let (ada, bob, eve) = (try await codes.claim("ada"), try await codes.claim("bob"), try await codes.claim("eve"))
        try await codes.ask("r1")
        for token in [bob, eve] {
            let error = await refusal { try await codes.answer("r1", "accepted", token: token) }
            #expect(error?.summary == "NOT_FOUND")
        }
        try await codes.answer("r1", "declined", token: ada)
        // The same answer again, since its response may have been lost.
        try await codes.answer("r1", "declined", token: ada)
        for (status, data) in [("accepted", ""), ("declined", "more")] {
            let error = await refusal { try await codes.answer("r1", status, data: data, token: ada) }
            #expect(error?.summary == "ALREADY_EXISTS")
        }
        for token in [ada, eve] {
            let error = await refusal { _ = try await codes.sent("r1", token: token) }
            #expect(error?.summary == "NOT_FOUND")
        }
        #expect(try await codes.sent("r1", token: bob) == SentStatusRequest(requestID: "r1", status: "declined"))
        let unknown = await refusal { _ = try await codes.sent("r2", token: bob) }
        #expect(unknown?.summary == "NOT_FOUND")
    }

    @Test func cursorContinuesAndRepeatsWhatWasLost() async throws {
        let codes = try TestShareCodes()
        let ada = try await codes.claim("ada")
        let empty = try await codes.inbox(ada, status: "pending")
        #expect(empty.requests.isEmpty && !empty.cursor.isEmpty)
        for number in 1...3 { try await codes.ask("r\(number)") }
        let first = try await codes.inbox(ada, status: "pending", after: empty.cursor)
        #expect(first.requests.map(\.requestID) == ["r1", "r2", "r3"])
        // The response was lost: the same cursor again, and now they are delivered.
        let again = try await codes.inbox(ada, status: "pending", after: empty.cursor)
        #expect(again.requests.map(\.status) == ["delivered", "delivered", "delivered"])
        #expect(try await codes.inbox(ada, status: "pending", after: first.cursor).requests.isEmpty)
        // An app without a cursor gets each request once, or all that are open.
        #expect(try await codes.inbox(ada, status: "pending").requests.isEmpty)
        #expect(try await codes.inbox(ada).requests.map(\.requestID) == ["r1", "r2", "r3"])
        let bob = try await codes.claim("bob")
        for (token, cursor) in [(ada, "1"), (ada, "x"), (bob, first.cursor)] {
            let error = await refusal { _ = try await codes.inbox(token, after: cursor) }
            #expect(error?.summary == "INVALID_ARGUMENT after")
        }
    }

    @Test func requestExpiresIsErasedAndIsRemoved() async throws {
        let codes = try TestShareCodes()
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        try await codes.ask("r1")
        codes.advance(.hours(24) - .seconds(1))
        #expect(try await codes.inbox(ada).requests.count == 1)
        codes.advance(.seconds(1))
        #expect(try await codes.inbox(ada).requests.isEmpty)
        #expect(try await codes.sent("r1", token: bob).status == "expired")
        let late = await refusal { try await codes.answer("r1", "accepted", token: ada) }
        #expect(late?.summary == "NOT_FOUND")
        #expect(try await codes.sweep() == ["status_request_data": 1])
        #expect(try await codes.ask("r1") == "expired")
        codes.advance(.days(30))
        #expect(try await codes.sweep() == [:])
        codes.advance(.seconds(1))
        #expect(try await codes.sweep() == ["status_requests": 1])
    }

    @Test func answerIsReadableForADayAndThenErased() async throws {
        let codes = try TestShareCodes()
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        try await codes.ask("r1")
        codes.advance(.hours(23))
        try await codes.answer("r1", "accepted", data: "well", token: ada)
        codes.advance(.hours(23))
        #expect(try await codes.sent("r1", token: bob).encryptedData == "well")
        codes.advance(.hours(1))
        #expect(
            try await codes.sent("r1", token: bob) == SentStatusRequest(requestID: "r1", status: "accepted"))
        #expect(try await codes.sweep() == ["status_request_data": 1])
        let left = try codes.database.readBlocking {
            try $0.first("SELECT message, answer FROM status_requests") { $0.isNull("message") && $0.isNull("answer") }
        }
        #expect(left == true)
    }

    // MARK: Limits

    @Test func personHasAtMostThirtyNewRequests() async throws {
        let codes = try TestShareCodes { $0.statusRequests = 1000 }
        let ada = try await codes.claim("ada")
        for number in 0..<30 { try await codes.ask("r\(number)", from: "s\(number)") }
        let refused = await refusal { try await codes.ask("r30", from: "s30") }
        #expect(refused?.status == .resourceExhausted)
        #expect(try await codes.ask("r0", from: "s0") == "pending")
        try await codes.ask("r31", to: "eve")
        #expect(try await codes.inbox(ada).requests.count == 30)
        try await codes.ask("r32", from: "s30")
    }

    @Test func sendersAreLimitedAtTheirAddressOnly() async throws {
        let codes = try TestShareCodes { $0.statusRequests = 1000 }
        for number in 0..<60 { try await codes.ask("r\(number)", to: "to\(number)") }
        let refused = await refusal { try await codes.ask("r60", to: "to60") }
        #expect(refused?.status == .resourceExhausted)
        // A stranger who names somebody else as the sender does not use up that person's rate.
        try await codes.ask("r61", to: "to60", host: "198.51.100.1")
        codes.advance(.minutes(1))
        try await codes.ask("r62", to: "to60")
        let again = await refusal { try await codes.ask("r63", to: "to60") }
        #expect(again?.status == .resourceExhausted)
    }

    // MARK: Umids

    @Test func umidIsClaimedOnceAndItsTokenIsNeeded() async throws {
        let codes = try TestShareCodes()
        let token = try await codes.claim("ada")
        let taken = await refusal { _ = try await codes.claim("ada") }
        #expect(taken?.summary == "ALREADY_EXISTS")
        for wrong in [nil, "", "dgwu", String(token.dropLast()) + (token.hasSuffix("A") ? "Q" : "A"), UmidToken().text]
        {
            let error = await refusal {
                _ = try await codes.service.listStatusRequests(
                    ListStatusRequestsRequest(), context: codes.call(token: wrong))
            }
            #expect(error?.summary == "UNAUTHENTICATED UNAUTHORIZED", "\(wrong ?? "no token")")
        }
        #expect(try await codes.inbox(token).requests.isEmpty)
    }

    @Test func tokensAreNotStored() async throws {
        let codes = try TestShareCodes()
        let token = try #require(UmidToken(text: try await codes.claim("ada")))
        let digest = try codes.database.readBlocking {
            try $0.first("SELECT digest FROM umids") { $0.blob("digest") }
        }
        let key = codes.keyring.key(ofApp: "share_codes", for: "tokens")
        #expect(digest == token.digest(key: key))
        #expect(token.digest(key: key) != token.digest(key: [UInt8](repeating: 0, count: 32)))
    }

    @Test func deletedUmidLeavesOnlyReservedCodes() async throws {
        let codes = try TestShareCodes()
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        try await codes.replace("A1B2C3", minutes: 10_080, token: ada)
        try await codes.ask("r1")
        try await codes.ask("r2", from: "ada", to: "bob")
        try await codes.ask("r3", from: "bob", to: "eve")
        _ = try await codes.service.deleteUmid(DeleteUmidRequest(), context: codes.call(token: ada))
        let signedOut = await refusal { _ = try await codes.inbox(ada) }
        #expect(signedOut?.summary == "UNAUTHENTICATED UNAUTHORIZED")
        #expect(try await codes.inbox(bob).requests.isEmpty)
        #expect(try codes.count("status_requests WHERE 'ada' IN (from_umid, to_umid)") == 0)
        #expect(try codes.count("status_requests") == 1)
        #expect(try codes.count("share_codes WHERE umid = 'ada' OR sealed IS NOT NULL") == 0)
        // An old slip of paper must not open the data of somebody else.
        let refused = await refusal { _ = try await codes.lookUp("A1B2C3") }
        #expect(refused?.summary == "NOT_FOUND")
        #expect(try await !codes.isUnique("A1B2C3"))
        codes.advance(.hours(24))
        #expect(try await codes.isUnique("A1B2C3"))
        _ = try await codes.claim("ada")
    }
}
