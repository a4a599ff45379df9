import TestSupport
import Testing

@testable import REST

/// Queries and forms.
@Suite(.timeLimited) struct FormTests {
    @Test func parametersAreUnescapedInOrder() throws {
        let fields = try URLEncodedForm.parse(Array("a=1&b.c=x+y%26&&d&a=".utf8))
        #expect(fields.map(\.name) == ["a", "b.c", "d", "a"])
        #expect(fields.map { String(decoding: $0.value, as: UTF8.self) } == ["1", "x y&", "", ""])
        #expect(throws: FormError.self) { try URLEncodedForm.parse(Array("a=%4".utf8)) }
        #expect(throws: FormError.self) { try URLEncodedForm.parse(Array("%FF=1".utf8)) }
        let many = String(repeating: "a&", count: 1001)
        #expect(throws: FormError.self) { try URLEncodedForm.parse(Array(many.utf8)) }
    }

    private func parse(_ body: [UInt8]) throws(FormError) -> [FormField] {
        try MultipartForm.parse(body, "multipart/form-data; boundary=x")
    }

    @Test func formWithoutABoundaryIsRefused() {
        let error = #expect(throws: FormError.self) { try MultipartForm.parse([], "multipart/form-data") }
        #expect(error?.description.contains("boundary of 1 to 70 characters") == true)
    }

    private static func form(_ parts: [String]) -> [UInt8] {
        Array((parts.map { "--x\r\n\($0)\r\n" }.joined() + "--x--\r\n").utf8)
    }

    @Test func partsBecomeFieldsAndFiles() throws {
        let body = Self.form([
            "Content-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n-x",
            "content-type: image/png\r\nContent-Disposition: form-data; name=p; filename=\"..\\\\a\\\"b.png\"\r\n\r\n\u{0}--x",
            "Content-Disposition: form-data; name=\"e\"; filename=\"\"\r\n\r\n",
        ])
        let fields = try parse(body)
        #expect(fields.map(\.name) == ["a", "p", "e"])
        #expect(fields[1].file == FormField.File(name: "..\\a\"b.png", contentType: "image/png"))
        #expect(fields[1].value == Array("\u{0}--x".utf8))
        #expect(fields[2].file == FormField.File(name: "", contentType: "") && fields[2].value.isEmpty)
    }

    @Test func delimiterWithinAPartEndsIt() throws {
        // The text after the delimiter is not the end of a line: the form is malformed, and not interpreted in another way.
        let body = Array("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--xy\r\n--x--".utf8)
        #expect(throws: FormError.self) { try parse(body) }
    }

    @Test(arguments: [
        "", "--y\r\n", "--x\r\n", "--x\r\n\r\n1\r\n--x--", "--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--",
        "--x\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--x--", "--x\r\nno colon\r\n\r\n1\r\n--x--",
        "--x\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\n1\r\n--x--",
        "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1",
    ])
    func malformedFormIsRefused(text: String) {
        #expect(throws: FormError.self) { try parse(Array(text.utf8)) }
    }

    @Test func formBeyondItsBoundsIsRefused() throws {
        let part = "Content-Disposition: form-data; name=a\r\n\r\n1"
        #expect(try parse(Self.form(Array(repeating: part, count: 32))).count == 32)
        #expect(throws: FormError.self) {
            try parse(Self.form(Array(repeating: part, count: 33)))
        }
        let header = "x: \(String(repeating: "a", count: 4100))\r\n"
        #expect(throws: FormError.self) { try parse(Self.form([header + part])) }
    }
}
