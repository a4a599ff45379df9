import Basics
import TestSupport
import Testing

@Suite(.timeLimited) struct PathTests {
    @Test(arguments: [
        ("/a/b", "/a", "b"), ("a/b", "a", "b"), ("a", "", "a"), ("d/", "", "d"), ("/d", "/", "d"), ("a//b//", "a", "b"),
        ("/", "/", ""), ("//", "/", ""), ("", "", ""), ("./é", ".", "é"),
        ("a/\u{301}b", "a", "\u{301}b"), ("a/\u{301}b/", "a", "\u{301}b"),
    ])
    func takesAPathApart(path: String, folder: String, name: String) {
        #expect(Path.folder(of: path) == folder)
        #expect(Path.name(of: path) == name)
    }

    @Test(arguments: [
        ("a/b.mcap", "a/b", ".mcap"), ("a.d/b", "a.d/b", ""), (".profile", ".profile", ""),
        ("a/.profile", "a/.profile", ""),
        ("a.tar.gz", "a.tar", ".gz"), ("a.", "a", "."), ("", "", ""), ("a.\u{301}b", "a", ".\u{301}b"),
    ])
    func extensionBeginsAtTheLastDot(path: String, stem: String, suffix: String) {
        #expect(Path.extended(path) == (stem, suffix))
    }

    @Test func relativePathHasTheNamesThatWereChecked() throws {
        let path = try #require(RelativePath("run/\u{301}7/a.mcap"))
        #expect(path.names == ["run", "\u{301}7", "a.mcap"])
    }
}
