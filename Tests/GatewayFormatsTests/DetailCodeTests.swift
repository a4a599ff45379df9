import GRPCWire
import RPC
import TestSupport
import Testing

@testable import GatewayFormats

/// The status code of each detail code.
@Suite(.timeLimited) struct DetailCodeTests {
    @Test func everyCodeHasItsStatus() {
        #expect(DetailCode.all.filter { $0.status == .unauthenticated }.count == 6)
        for code in DetailCode.all {
            #expect(code.status != .ok && code.status != .unknown && code.status != .resourceExhausted)
        }
        #expect(DetailCode.rateLimited.status == .unavailable)
        #expect(DetailCode.uploadNotOwned.status == .permissionDenied)
    }

    @Test func codesAreReadFromTheirTexts() {
        #expect(Set(DetailCode.all.map(\.rawValue)).count == 21)
        for code in DetailCode.all { #expect(DetailCode(rawValue: code.rawValue) == code) }
        #expect(DetailCode(rawValue: "DATA_GATEWAY_SOMETHING_ELSE") == nil)
    }
}
