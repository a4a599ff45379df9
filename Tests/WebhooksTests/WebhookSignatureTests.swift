import Basics
import Crypto
import HTTPTypes
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct WebhookSignatureTests {
    /// The example of the Standard Webhooks specification, which its libraries test as well.
    @Test func isThatOfTheSpecification() throws {
        let keys = try #require(Webhook.keys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"))
        let fields = WebhookSignature.fields(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8), keys: keys,
            at: UnixTime(seconds: 1_614_265_330))
        #expect(fields["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(fields["webhook-timestamp"] == "1614265330")
        #expect(fields["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func aKeyIsATextOrBase64() throws {
        #expect(Webhook.keys("0123456789abcdef")?.map(\.exposedText) == ["0123456789abcdef"])
        #expect(Webhook.keys("\n a key with blanks in it \n\n")?.map(\.exposedText) == ["a key with blanks in it"])
        #expect(Webhook.keys("whsec_MDEyMzQ1Njc4OWFiY2RlZg==\r\n")?.map(\.exposedText) == ["0123456789abcdef"])
    }

    @Test func eachKeySigns() throws {
        let (old, new) = ("0123456789abcdef", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        func signature(_ text: String) throws -> String? {
            WebhookSignature.fields(
                id: "1", body: [], keys: try #require(Webhook.keys(text)), at: UnixTime(seconds: 1))[
                    "webhook-signature"]
        }
        let both = try signature("\(new)\n\(old)\n")
        #expect(both == [try signature(new), try signature(old)].compactMap { $0 }.joined(separator: " "))
    }

    @Test(arguments: [
        "", "\n", "0123456789abcdef\nx", String(repeating: "0123456789abcdef\n", count: 5),
        "0123456789abcde", "whsec_", "whsec_MDEyMzQ1Njc4OWFiY2Rl", "whsec_0123456789abcdef!",
    ])
    func shortOnesAreNone(text: String) {
        #expect(Webhook.keys(text) == nil)
    }
}
