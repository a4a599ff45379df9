import XML

/// Properties of the XML parser and writer.
enum XMLProperties {
    /// A completion list, responses of OSS, S3 and MinIO, and one document for each rule that rejects documents.
    static let seeds: [[UInt8]] =
        [
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
              <Part><PartNumber>1</PartNumber><ETag>&quot;AA&quot;</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part>
            </CompleteMultipartUpload>
            """,
            "\u{FEFF}<?xml version='1.0' encoding='utf-8' standalone='yes' ?><Error><Code>NoSuchKey</Code></Error>",
            """
            <a:ACL xmlns:a="urn:a"><!-- owner --><a:Grantee xmlns:xsi="urn:xsi" xsi:type="User">&#x41;&#66;</a:Grantee>
            </a:ACL><!---->
            """,
            "<ListPartsResult><IsTruncated>false</IsTruncated><Part><ETag>\"é世🤖\"</ETag></Part>\r\n\r</ListPartsResult>",
            "<a><b><c><d/></c></b></a>", "<a b='1' c=\"&lt;\"/>", "<a>&amp;&lt;&gt;&apos;&#13;]]&gt;</a>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a><![CDATA[b]]></a>", "<a><?b c?></a>", "<a><?b?></a>",
            "<a b='1' b='2'/>", "<a:b/>", "<a>", "<a></b>", "<a/><b/>", "<!-- a -- b --><a/>", "<a>&#0;&#xFFFE;</a>",
        ].map { Array($0.utf8) } + [Array("<Error><a".utf8) + [0xFF] + Array("/></Error>".utf8)]

    /// Checks that bytes are rejected with a position inside them, or that each element is unchanged after writing and reading it.
    static func check(_ input: [UInt8]) {
        do throws(XMLError) {
            let root = try XMLElement(parsing: input, maximumBytes: input.count)
            // A response's root has no text of its own, so the root is written as a child.
            checkWritten(XMLElement(name: "Document", children: [root]))
        } catch {
            precondition((0...input.count).contains(error.offset), "an error is \(error.offset) bytes behind the start")
        }
    }

    private static func checkWritten(_ element: XMLElement) {
        let children = element.children.map { FlatXML.Element($0.name, $0.text) }
        let written = FlatXML(element.name, children).bytes
        let expected = XMLElement(
            name: element.name, children: element.children.map { XMLElement(name: $0.name, text: $0.text) })
        guard let again = try? XMLElement(parsing: written, maximumBytes: written.count) else {
            fatalError("\(element.name) is refused as it was written")
        }
        precondition(again == expected, "\(element.name) is not read as it was written")
        for child in element.children { checkWritten(child) }
    }
}
