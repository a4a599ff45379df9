import TestSupport
import Testing

@testable import Multipart

@Suite(.timeLimited) struct MultipartReaderTests {
    @Test(arguments: [
        ("multipart/form-data; boundary=x", "x"), ("Multipart/Form-Data;charset=utf-8; Boundary=\"a b\"", "a b"),
        ("multipart/form-data", nil), ("multipart/mixed; boundary=x", nil), ("multipart/form-data; boundary=", nil),
        ("multipart/form-data; boundary=\"a \"", nil), ("multipart/form-data; boundary=a; boundary=b", nil),
        ("multipart/form-data; boundary=\"a<b\"", nil), ("multipart/form-data; boundary=é", nil),
        ("multipart/form-datax; boundary=x", nil),
        ("multipart/form-data; boundary=\(String(repeating: "a", count: 71))", nil),
    ])
    func boundaryIsTakenFromTheContentType(type: String, boundary: String?) {
        #expect(MultipartReader.boundary(type) == boundary.map { Array($0.utf8) })
    }

    /// Returns the parts with their contents, and whether the form is complete.
    private func read(
        _ text: String, by size: Int = .max
    ) throws(MultipartError) -> (parts: [(part: MultipartPart, contents: String)], isComplete: Bool) {
        var reader = MultipartReader(boundary: Array("b--1".utf8), headerLimit: 200)
        var parts: [(part: MultipartPart, bytes: [UInt8], isEnded: Bool)] = []
        var isComplete = false
        let all = Array(text.utf8)
        for start in stride(from: 0, to: all.count, by: min(size, max(1, all.count))) {
            all[start..<min(start + min(size, all.count), all.count)].withUnsafeBytes { reader.append($0) }
            while let event = try reader.next() {
                #expect(!isComplete)
                switch event {
                case .part(let part): parts.append((part, [], false))
                case .bytes(let bytes): parts[parts.count - 1].bytes += bytes
                case .endOfPart: parts[parts.count - 1].isEnded = true
                case .end: isComplete = true
                }
            }
        }
        #expect(parts.allSatisfy(\.isEnded) || !isComplete)
        return (parts.map { ($0.part, String(decoding: $0.bytes, as: UTF8.self)) }, isComplete)
    }

    private static let form = [
        "preamble", "--b--1 \t", "Content-Disposition: form-data; name=\"a\"", "", "\r\n--b--\r", "--b--1",
        "content-type: \ttext/plain ", "CONTENT-DISPOSITION: form-data; name=b; filename=\"c\"", "", "", "--b--1--",
        "--b--1",
    ].joined(separator: "\r\n")

    @Test(arguments: [1, 2, 3, 7, 64, 1000])
    func formsInPiecesOfAnySizeAreTheSame(size: Int) throws {
        let (parts, isComplete) = try read(Self.form, by: size)
        #expect(isComplete)
        #expect(parts.map(\.part.name) == ["a", "b"])
        #expect(parts.map(\.contents) == ["\r\n--b--\r", ""])
        #expect(parts.map(\.part.fileName) == [nil, "c"])
        #expect(parts.map(\.part.contentType) == [nil, "text/plain"])
    }

    @Test func formThatIsCutHasNoEnd() throws {
        for count in 0..<Self.form.utf8.count - "\r\n--b--1".utf8.count {
            #expect(try !read(String(decoding: Self.form.utf8.prefix(count), as: UTF8.self)).isComplete)
        }
    }

    private static let named = "Content-Disposition: form-data; name=a"

    @Test(
        arguments: [
            ("--b--1x\r\n", .boundary), ("--b--1 -", .boundary), ("--b--1\n\(named)\n\n1", .boundary),
            ("--b--1-x", .boundary),
            ("--b--1\(String(repeating: " ", count: 201))", .boundary), ("--b--1\r\n\r\n1", .unnamed),
            ("--b--1\r\nContent-Disposition: form-data\r\n\r\n", .unnamed),
            ("--b--1\r\nContent-Disposition: file; name=a\r\n\r\n", .unnamed),
            ("--b--1\r\n\(named); name=b\r\n\r\n", .unnamed), ("--b--1\r\nx\r\n\(named)\r\n\r\n", .header),
            ("--b--1\r\n\(named)\r\nContent-Transfer-Encoding: base64\r\n\r\n", .encoding("base64")),
            ("--b--1\r\nx: \(String(repeating: "a", count: 200))", .headerTooLong),
        ] as [(String, MultipartError)])
    func otherBodiesAreRefused(text: String, reason: MultipartError) {
        for size in [1, 5, 1000] { #expect(throws: reason) { try read(text, by: size) } }
    }

    @Test func headersThatAreNotTextAreRefused() {
        var reader = MultipartReader(boundary: [0x78], headerLimit: 200)
        (Array("--x\r\na: ".utf8) + [0xFF, 0x0D, 0x0A, 0x0D, 0x0A]).withUnsafeBytes { reader.append($0) }
        #expect(throws: MultipartError.notUTF8) { try reader.next() }
    }

    @Test(arguments: [
        ("\"a;b\"", "a;b"), ("\"a\\\"b;c\"", "a\"b;c"), ("\"%22a%22\"", "\"a\""), ("\"C:\\a\\\"", "C:\\a\\"),
        ("\"a\\b\"", "a\\b"),
        ("\"..\\\\a\"", "..\\a"), ("a b ", "a b"), ("\"\"", ""), ("\"open", "open"), ("\"\u{301}é\"", "\u{301}é"),
        (" \"a\" ; other=\"b\"", "a"),
    ])
    func quotedTextsAreUnescapedInOneWay(sent: String, name: String) {
        #expect(HeaderParameters("form-data; filename=\(sent)")["filename"] == name)
    }
}
