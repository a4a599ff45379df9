import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimited) struct AbsoluteTargetTests {
    @Test(
        arguments: [
            ("http://store/b/k", "store", "/b/k"), ("https://store:443/b?x=http://y", "store:443", "/b?x=http://y"),
            ("HTTP://Store.Example.com/", "Store.Example.com", "/"), ("http://store", "store", "/"),
            ("http://store?list-type=2", "store", "/?list-type=2"),
            ("http://127.0.0.1:8080//a", "127.0.0.1:8080", "//a"),
            ("http://[::1]:80/a", "[::1]:80", "/a"), ("http://[fe80::1]", "[fe80::1]", "/"),
            ("http://store:/a", "store:", "/a"),
            ("http://store/a@b:c", "store", "/a@b:c"), ("http://a_b~c-d.e/%2F", "a_b~c-d.e", "/%2F"),
        ])
    func targetIsTakenApart(text: String, authority: String, origin: String) throws {
        let target = try #require(AbsoluteTarget(text))
        #expect(target.authority == authority && target.origin == origin)
    }

    @Test(arguments: [
        "", "*", "/a", "store:80", "http:/store/a", "http:store", "http:///a", "http://", "http://?a", "ftp://store/a",
        "httpx://store/a", "http://user@store/a", "http://user:secret@store/a", "http://store:port/a", "http://:80/a",
        "http://sto re/a", "http://store:123456/a", "http://store%2F/a", "http://[::1/a", "http://::1/a", "http://[]/a",
        "http://[::g]/a", "http://[::1]x/a", "http://st\u{F6}re/a", "://store/a", "http://store\\a/b",
    ])
    func otherTargetsAreRefused(text: String) {
        #expect(AbsoluteTarget(text) == nil)
    }
}
