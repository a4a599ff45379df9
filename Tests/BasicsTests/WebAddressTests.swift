import Basics
import Foundation
import TestSupport
import Testing

@Suite(.timeLimited) struct WebAddressTests {
    /// Foundation, with the tables of ICU, and FoundationEssentials with this check agree for every ASCII character.
    @Test(arguments: ["https://h%@x/", "https://h%@", "http://%@h:80/a", "https://ü%@x?y"])
    func asciiCharactersOfHostsAreThoseOfFoundation(template: String) {
        for value in UInt8(0)...0x7F {
            let text = template.replacing("%@", with: String(UnicodeScalar(value)))
            #expect(
                (URLComponents(webAddress: text) == nil) == (URLComponents(string: text) == nil),
                "\(text.debugDescription)")
        }
    }

    @Test(arguments: [
        "https://münchen.de/x", "https://例え.テスト", "https://xn--mnchen-3ya.de", "http://[::1]:80/x", "https://h%41/",
        "https://a_b.c",
        "https://user:p@h:1/", "https://h/a b", "https://h?a|b", "/path", "https://",
    ])
    func otherAddressesAreAccepted(text: String) {
        #expect(URLComponents(webAddress: text) != nil)
    }

    @Test(arguments: [
        "https://a\u{2028}b", "https://a\u{202E}b", "https://\u{E000}", "https://u@a b/", "https://[::1] x/",
    ])
    func hostsWithoutACharacterOfANameAreRefused(text: String) {
        #expect(URLComponents(webAddress: text) == nil)
    }
}
