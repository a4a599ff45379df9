import Basics
import Crypto
import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct TOTPTests {
    private let app = TOTP(secret: Secret("12345678901234567890"))

    /// RFC 6238, appendix B, the rows of SHA-1.
    @Test(arguments: [
        (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
        (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
    ])
    func codesAreThoseOfTheStandard(_ seconds: Int64, _ code: String) {
        let step = TOTP.step(at: UnixTime(seconds: seconds))
        #expect(app.code(step: step, digits: 8) == code)
        #expect(app.code(step: step) == String(code.suffix(6)))
    }

    /// RFC 4226, appendix D.
    @Test func countersGiveTheCodesOfTheStandard() {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        #expect((0..<10).map { app.code(step: Int64($0)) } == codes)
    }

    @Test func codesOfTheNextAndThePreviousStepAreAccepted() {
        let now = UnixTime(seconds: 1_800_000_015)
        let current = TOTP.step(at: now)
        for (skew, isAccepted) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let step = app.step(of: app.code(step: current + Int64(skew)), at: now, after: 0)
            #expect(step == (isAccepted ? current + Int64(skew) : nil), "\(skew)")
        }
    }

    @Test func codesOfAnAcceptedStepAndBeforeAreRefused() {
        let now = UnixTime(seconds: 1_800_000_015)
        let current = TOTP.step(at: now)
        #expect(app.step(of: app.code(step: current), at: now, after: current) == nil)
        #expect(app.step(of: app.code(step: current - 1), at: now, after: current) == nil)
        #expect(app.step(of: app.code(step: current + 1), at: now, after: current) == current + 1)
    }

    @Test(arguments: ["", "1", "12345", "1234567", "abcdef", "１２３４５６"])
    func textsThatAreNoCodeAreRefused(_ text: String) {
        #expect(app.step(of: text, at: UnixTime(seconds: 1_800_000_015), after: 0) == nil)
    }

    @Test func addressNamesTheAccountAndTheParameters() {
        #expect(
            app.uri(issuer: "data-gateway", account: "acme/vera@example")
                == "otpauth://totp/data-gateway:acme%2Fvera%40example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
                + "&issuer=data-gateway&algorithm=SHA1&digits=6&period=30")
    }

    @Test func recoveryCodesAreReadHoweverTheyAreWritten() {
        let code = RecoveryCode()
        #expect(code.text.wholeMatch(of: /[a-z2-7]{5}-[a-z2-7]{5}/) != nil)
        let digest = code.digest(of: 7, pepper: [1])
        for text in [code.text, code.text.uppercased(), code.text.replacing("-", with: " ")] {
            #expect(RecoveryCode(text: text)?.digest(of: 7, pepper: [1]) == digest)
        }
        #expect(code.digest(of: 8, pepper: [1]) != digest)
        for text in ["", "123456", "abcde-fghi", "abcde-fgh1j", "äbcde-fghij"] {
            #expect(RecoveryCode(text: text) == nil, "\(text)")
        }
    }
}
