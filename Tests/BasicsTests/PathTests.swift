import Basics
import TestSupport
import Testing

@Suite(.timeLimited) struct PathTests {
    @Test(arguments: [
        ("/a/b", "/a", "b"), ("a/b", "a", "b"), ("a", "", "a"), ("d/", "", "d"), ("/d", "/", "d"), ("a//b//", "a", "b"),
        ("/", "/", ""), ("//", "/", ""), ("", "", ""), ("./é", ".", "é"),
    ])
    func takesAPathApart(path: String, folder: String, name: String) {
        #expect(Path.folder(of: path) == folder)
        #expect(Path.name(of: path) == name)
    }
}
