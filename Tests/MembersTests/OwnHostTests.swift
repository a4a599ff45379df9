import AppSupport
import HTTPTypes
import RPC
import TestSupport
import Testing
import Wire

@testable import Members

@Suite(.timeLimited) struct OwnHostTests {
    @Test(arguments: [
        "localhost", "localhost:8080", "LOCALHOST", "localhost.", "books.localhost:1", "127.0.0.1", "127.9.8.7:80",
        "[::1]",
        "[::1]:8080", "books.test", "Books.Test:8080", "books.test.",
    ])
    func ownNamesAreIncluded(host: String) {
        #expect(OwnHosts("books.test, shelf").include(host))
    }

    @Test(arguments: [
        "", "example.com", "example.com:8080", "localhost.example.com", "notlocalhost", "127.0.0.1.example.com",
        "192.0.2.1",
        "[2001:db8::1]", "[::1", "::1.example.com", "books.test.example.com", "0.0.0.0", "localhost@example.com",
        "[::1].example.com", "[::1]x", "[::1]:8080.example.com", "localhost:80.example.com", "localhost:@example.com",
    ])
    func otherNamesAreNot(host: String) {
        #expect(!OwnHosts("books.test, shelf").include(host))
    }

    @Test func callWithoutOneHostIsRefused() {
        let method = MethodDescriptor(service: "app.Service", name: "Call", kind: .unary)
        func call(_ hosts: String...) -> CallContext {
            CallContext(method: method, metadata: Metadata(hosts.map { (name: "host", value: $0) }))
        }
        #expect(OwnHosts().include(call("localhost")))
        #expect(!OwnHosts().include(call()) && !OwnHosts().include(call("localhost", "localhost")))
    }

    @Test func namesAreChecked() {
        #expect(OwnHosts("").areValid && OwnHosts("a.b, c-d").areValid)
        #expect(!OwnHosts("a:80").areValid && !OwnHosts("a/b").areValid && !OwnHosts("http://a").areValid)
    }
}
