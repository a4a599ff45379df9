import TestSupport
import Testing

@testable import Identity

@Suite(.timeLimited) struct ProviderURLTests {
    @Test(arguments: [
        "https://sso.example.com", "https://sso.example.com:8443/realms/a", "http://127.0.0.1:8080/x",
        "http://[::1]:8080", "http://localhost/callback",
    ])
    func httpsAndLoopbackAreAcceptable(_ url: String) {
        #expect(ProviderURL.isAcceptable(url))
    }

    @Test(arguments: [
        "", "http://sso.example.com", "ftp://127.0.0.1", "https://", "https://u:p@sso.example.com",
        "https://sso.example.com/#x", "https://sso example.com", "http://127.0.0.1.example.com",
        "http://localhost.example.com", "https://\(String(repeating: "a", count: 3000)).example.com",
    ])
    func otherURLsAreNotAcceptable(_ url: String) {
        #expect(!ProviderURL.isAcceptable(url))
    }
}
