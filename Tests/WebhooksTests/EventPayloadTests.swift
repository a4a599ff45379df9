import Basics
import Crypto
import Database
import GatewayTesting
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct EventPayloadTests {
    private struct Fields: Encodable {
        let objectID: String
        let sizeBytes: Int64
        let deviceID: String?
        let rawTags: [String: String]
    }

    /// Receivers depend on these names.
    @Test func membersAreInSnakeCaseAndTagsAsTheyAre() throws {
        let event = Event(
            .objectVerified, subject: "objects/1", organizationID: 1,
            data: Fields(objectID: "7", sizeBytes: 1 << 53, deviceID: nil, rawTags: ["weatherNow/x": "\"rain\"\n"]))
        let time = UnixTime(microseconds: 1_795_316_530_250_000)
        #expect(
            try EventPayload(event, id: "e", organization: "acme", at: time).json == """
                {"data":{"object_id":"7","raw_tags":{"weatherNow/x":"\\"rain\\"\\n"},"size_bytes":9007199254740992},\
                "id":"e","organization":"acme","subject":"objects/1","timestamp":"2026-11-22T03:02:10.250Z",\
                "type":"object.verified"}
                """)
    }

    @Test(arguments: ["00-1\r\nx: y", "00 1", "", "ü"]) func aTraceThatIsNoFieldIsLeftOut(text: String) {
        let event = Event(.objectVerified, subject: "s", organizationID: 1, data: [1], traceparent: text)
        #expect(event.traceparent == nil)
    }
}

@Suite(.timeLimited) struct WebhookTests {
    private func webhook(_ types: Set<EventType> = [], _ organization: String? = nil) -> Webhook {
        Webhook(
            name: "w", url: "http://h", keys: [Secret("0123456789abcdef")], types: types, organization: organization)
    }

    @Test func wantsWhatItNames() {
        #expect(webhook().wants(.uploadAborted))
        #expect(webhook([.uploadAborted]).wants(.uploadAborted))
        #expect(!webhook([.uploadAborted]).wants(.objectVerified))
    }

    @Test func isForTheOrganizationThatHadItsNameFirst() throws {
        let scene = try Scene()
        func isFor(_ webhook: Webhook, _ id: Int64) throws -> Bool {
            try scene.database.writeBlocking { try webhook.isFor(id, in: $0) }
        }
        let rows = AccountRows(scene.database)
        let first = try rows.addOrganization("acme")
        let other = try rows.addOrganization("other")
        #expect(try isFor(webhook(), other))
        #expect(try isFor(webhook([], "acme"), first))
        #expect(try !isFor(webhook([], "acme"), other))
        try rows.deleteOrganization(first)
        #expect(try !isFor(webhook([], "acme"), try rows.addOrganization("acme")))
    }
}
