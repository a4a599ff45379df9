import TestSupport
import Testing

@testable import XML

@Suite(.timeLimited) struct XMLElementTests {
    @Test func answerIsReadAsElements() throws {
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
              <UploadId> u-1
              </UploadId>
              <Part><PartNumber>1</PartNumber><ETag>&quot;aa&quot;</ETag></Part>
              <Part><PartNumber>2</PartNumber><ETag>b<!-- -->b</ETag></Part>
            </ListPartsResult>
            """
        let element = try XMLElement(parsing: Array(document.utf8), maximumBytes: 1000)
        #expect(element.name == "ListPartsResult")
        #expect(element.text == "")
        #expect(element["UploadId"] == "u-1")
        #expect(element["Key"] == nil)
        #expect(element.children.filter { $0.name == "Part" }.map { $0["ETag"] } == ["\"aa\"", "bb"])
    }

    @Test func readsWhatIsWritten() throws {
        let texts = ["", "a", "<&>\"'", "a\r\nb\tc", "]]>", "é世🤖", "\u{A0}"]
        let written = FlatXML("Root", namespace: "urn:x", texts.map { FlatXML.Element("Text", $0) }).bytes
        let element = try XMLElement(parsing: written, maximumBytes: written.count)
        #expect(element == XMLElement(name: "Root", children: texts.map { XMLElement(name: "Text", text: $0) }))
    }
}
