import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct DecimalDigitsTests {
    @Test(arguments: [("0", 0), ("7", 7), ("0012", 12), ("9223372036854775807", Int64.max)] as [(String, Int64)])
    func numberIsReadFromItsDigits(text: String, number: Int64) {
        #expect(Int64(decimal: text) == number)
    }

    @Test(arguments: ["", "+1", "-1", " 1", "1 ", "1_0", "1.0", "0x1", "\u{FF11}", "\u{661}", "9223372036854775808"])
    func otherTextIsNoNumber(text: String) {
        #expect(Int64(decimal: text) == nil)
    }
}
