import Basics
import TestSupport
import Testing

@Suite(.timeLimited) struct ContentTypeTests {
    @Test(
        arguments: [
            (nil, "a.mcap", "application/x-mcap"), (nil, nil, "application/octet-stream"),
            ("application/octet-stream", "a.csv", "text/csv"), ("video/mp4", "a.csv", "video/mp4"),
            ("text/plain; charset=utf-8", nil, "text/plain; charset=utf-8"), ("nonsense", "a.PNG", "image/png"),
            ("a/b\r\nX: y", nil, "application/octet-stream"),
            ("application/x-www-form-urlencoded", "a.bag", "application/x-rosbag"),
        ] as [(String?, String?, String)])
    func isDeclaredOrThatOfTheName(declared: String?, name: String?, type: String) {
        #expect(ContentType.detect(declared: declared, fileName: name.flatMap { FileName($0) }) == type)
    }

    @Test(
        arguments: [
            ([0x89] + Array("PNG\r\n".utf8), "image/png"), ([0x89] + Array("MCAP0\r\n".utf8), "application/x-mcap"),
            (Array("%PDF-1.7".utf8), "application/pdf"), (Array("SQLite format 3\0".utf8), "application/vnd.sqlite3"),
            (Array(repeating: 0, count: 257) + Array("ustar".utf8), "application/x-tar"),
            (Array("0000ftypisom".utf8), "video/mp4"), (Array("0000ftypqt  ".utf8), "video/quicktime"), ([], nil),
            ([0x89, 0x50], nil), (Array("hello".utf8), nil),
        ] as [([UInt8], String?)])
    func isToldByTheFirstBytes(head: [UInt8], type: String?) {
        #expect(ContentType.byContent(head) == type)
    }
}
