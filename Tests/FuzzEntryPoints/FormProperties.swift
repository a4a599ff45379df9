import HTTPTypes
import Multipart
import REST
import StoreProtocol

/// Properties of the readers of forms.
enum FormProperties {
    private static let contentType = "multipart/form-data; boundary=x"

    /// Forms of a browser and of SDKs, content types, and a form for each rule that rejects forms.
    static let seeds: [[UInt8]] =
        [
            form(field("key", "up/${filename}"), field("policy", ""), file),
            form(field("a", "\r\n--\r\n-x\r"), file, field("after", "1")), "preamble\r\n" + form(file) + "\r\nepilogue",
            "--x \t\r\nContent-Disposition: form-data; name=file\r\n\r\n1\r\n--x--",
            form("Content-Disposition: form-data; name=\"a\\\"b\"; filename=\"C:\\a\\\"\r\n\r\n1"),
            form("content-type: text/plain\r\nContent-Disposition: form-data; name=b; filename=\"%22;\"\r\n\r\n"),
            "multipart/form-data; boundary=\"a b\"; charset=utf-8", "multipart/form-data;boundary=a;boundary=b",
            "--x--",
            "--x\r\n\r\n1\r\n--x--", form(field("a", "1"), field("a", "2")), form("no colon\r\n\r\n1"),
            form("Content-Disposition: attachment; name=a\r\n\r\n1"), "--xy",
            "--x\r\nContent-Disposition: form-data; name=a",
            form("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\n1"),
        ].map { Array($0.utf8) } + [
            Array("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n".utf8) + [0xFF, 0x0D, 0x0A]
        ]

    /// The fields and the file of a form for the object store.
    private struct Upload: Equatable {
        var fields: HTTPFields = [:]
        var name = ""
        var contentType: String?
        var bytes: [UInt8] = []
        var isDone = false
    }

    /// Checks that what is read does not depend on the pieces in which a form arrives, and that it is no more than came.
    static func check(_ input: [UInt8]) {
        if let boundary = MultipartReader.boundary(String(decoding: input, as: UTF8.self)) {
            precondition((1...MultipartReader.maximumBoundary).contains(boundary.count), "a boundary is too long")
        }
        let whole = upload(input, by: max(1, input.count))
        for size in [1, 7] {
            precondition(upload(input, by: size) == whole, "a form in pieces is read as another one")
        }
        if let whole { precondition(whole.bytes.count <= input.count, "a file has more than came") }
        guard let fields = try? MultipartForm.parse(input, contentType) else { return }
        precondition(fields.count <= MultipartForm.maximumParts, "a form has too many parts")
        precondition(fields.reduce(0) { $0 + $1.value.count } <= input.count, "a form has more than came")
        guard let file = fields.first(where: { $0.name.lowercased() == "file" }), let whole else { return }
        precondition(whole.isDone && whole.bytes == file.value, "the two readers differ about the file")
        precondition(whole.name == file.file?.name ?? "", "the two readers differ about the name of the file")
    }

    /// Returns `nil` for a form that is refused.
    private static func upload(_ input: [UInt8], by size: Int) -> Upload? {
        guard var parser = FormParser(["Content-Type": contentType]) else { fatalError("the content type is refused") }
        var result = Upload()
        for start in stride(from: 0, to: input.count, by: size) {
            let piece = input[start..<min(start + size, input.count)]
            guard let events = try? piece.withUnsafeBytes({ try parser.read($0) }) else { return nil }
            for event in events {
                precondition(!result.isDone, "something follows the file")
                switch event {
                case .file(let fields, let name, let type):
                    (result.fields, result.name, result.contentType) = (fields, name, type)
                case .bytes(let bytes): result.bytes += bytes
                case .end: result.isDone = true
                }
            }
        }
        precondition(parser.isDone == result.isDone, "the end of a file is not passed on")
        return result
    }

    private static let file =
        "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n\r\n--y"

    private static func field(_ name: String, _ value: String) -> String {
        "Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)"
    }

    private static func form(_ parts: String...) -> String { parts.map { "--x\r\n\($0)\r\n" }.joined() + "--x--\r\n" }
}
