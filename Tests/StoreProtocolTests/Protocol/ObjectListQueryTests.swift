import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct ObjectListQueryTests {
    private func query(_ text: String) throws -> ObjectListQuery {
        try ObjectListQuery(RequestTarget("/bucket?" + text, host: "", domains: []), limit: 1000)
    }

    @Test func bothVersionsOfTheListingAreRead() throws {
        let first = try query("prefix=a%2F&marker=a%2Fb&delimiter=%2F&encoding-type=url")
        #expect(first.form == .objects && first.prefix == "a/" && first.start == "a/b" && first.delimiter == "/")
        #expect(first.encodesKeys && first.token == nil)
        let second = try query("list-type=2&start-after=x")
        #expect(second.form == .objectsV2 && second.start == "x" && second.prefix.isEmpty && second.delimiter.isEmpty)
        let token = ObjectListQuery.token(after: "日本/ü")
        let next = try query("list-type=2&start-after=x&continuation-token=\(token)")
        #expect(next.start == "日本/ü" && next.token == token)
        let empty = try query("list-type=2&start-after=x&continuation-token=")
        #expect(empty.token?.isEmpty == true && empty.start == "x")
        let versions = try query("versions&prefix=a&key-marker=ab&version-id-marker=null")
        #expect(versions.form == .versions && versions.start == "ab" && versions.namesOwners)
    }

    @Test(arguments: ["list-type=1", "list-type=", "list-type=2&continuation-token=%25", "list-type=2&list-type=2"])
    func malformedListQueryIsRefused(text: String) {
        #expect(throws: StoreError.self) { try query(text) }
    }

    @Test(
        arguments: [
            ("prefix=a/", "a/b/c", "/", "a/b/"), ("prefix=a/", "a/b", "/", nil), ("", "a//b", "//", "a//"),
            ("prefix=a", "a/b", "/", "a/"), ("prefix=b", "a/b", "/", nil), ("", "a/b", "", nil),
            // The slash is a delimiter, although Swift combines it with the accent into one character.
            ("prefix=a", "a/\u{301}b", "/", "a/"),
        ] as [(String, String, String, String?)])
    func keysBehindADelimiterShareTheirPrefix(text: String, key: String, delimiter: String, prefix: String?) throws {
        let found = try query(text + (delimiter.isEmpty ? "" : "&delimiter=\(delimiter)")).commonPrefix(of: key)
        #expect(found.map { Array($0.utf8) } == prefix.map { Array($0.utf8) })
    }

    @Test func pageBeginsBehindItsMarker() throws {
        #expect(try query("prefix=p").first == "p")
        #expect(try query("prefix=p&marker=a").first == "p")
        #expect(try query("prefix=p&marker=pa").first == "pa\u{1}")
        // The first character that a key may have.
        #expect(try query("prefix=p&marker=pa").first < "pa\t")
        // After a common prefix, none of its keys is repeated.
        #expect(try query("prefix=p&marker=pa/&delimiter=/").first == "pa/\u{10FFFF}")
    }
}
