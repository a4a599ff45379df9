import Platform
import Testing

@testable import Events

@Suite struct EventPayloadTests {
    private struct Fields: Encodable {
        let objectID: String
        let sizeBytes: Int64
        let deviceID: String?
        let rawTags: [String: String]
    }

    /// Receivers were built with these names.
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

@Suite struct WebhookTests {
    private func webhook(_ types: Set<EventType> = [], _ organization: String? = nil) -> Webhook {
        Webhook(
            name: "w", url: "http://h", keys: [Secret("0123456789abcdef")], types: types, organization: organization)
    }

    @Test func wantsWhatItNames() {
        #expect(webhook().wants(.uploadAborted, of: "acme"))
        #expect(webhook([.uploadAborted]).wants(.uploadAborted, of: "acme"))
        #expect(!webhook([.uploadAborted]).wants(.objectVerified, of: "acme"))
        #expect(webhook([], "acme").wants(.objectVerified, of: "acme"))
        #expect(!webhook([], "acme").wants(.objectVerified, of: "system"))
    }
}
