import TestSupport
import Testing

@testable import XML

@Suite(.timeLimited) struct XMLReaderTests {
    /// Returns the events of a document in the form of XML without whitespace, attributes and prefixes.
    private func read(_ document: some Sequence<UInt8>) throws(XMLError) -> String {
        var reader = try XMLReader(Array(document), maximumBytes: 8 << 20)
        var text = ""
        while let event = try reader.next() {
            switch event {
            case .start(let name): text += "<\(name)>"
            case .text(let piece): text += "[\(piece)]"
            case .end(let name): text += "</\(name)>"
            }
        }
        return text
    }

    private func failure(_ document: some Sequence<UInt8>) -> XMLError? {
        do throws(XMLError) {
            _ = try read(document)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("<a/>", "<a></a>"),
        ("<a></a >", "<a></a>"),
        (" <a>\n<b>c</b> d</a>\n", "<a>[\n]<b>[c]</b>[ d]</a>"),
        ("<a-1._b/>", "<a-1._b></a-1._b>"),
        // Declaration and byte order mark.
        ("<?xml version=\"1.0\"?><a/>", "<a></a>"),
        ("<?xml version='1.0' encoding='UTF-8'?>\n<a/>", "<a></a>"),
        ("\u{FEFF}<?xml version = \"1.0\" encoding = \"utf-8\" standalone=\"no\" ?><a/>", "<a></a>"),
        // Text.
        ("<a>&amp;&lt;&gt;&quot;&apos;</a>", "<a>[&<>\"']</a>"),
        ("<a>&#65;&#x42;&#x1F916;&#00000000067;</a>", "<a>[AB🤖C]</a>"),
        ("<a>1\r\n2\r3&#13;]] ></a>", "<a>[1\n2\n3\r]] >]</a>"),
        ("<a>é世🤖</a>", "<a>[é世🤖]</a>"),
        // Comments.
        ("<!-- 1 --><a>b<!-- <c> & -->d</a><!---->\n<!-- 2 -->", "<a>[b][d]</a>"),
        // Attributes and namespaces.
        ("<a xmlns=\"urn:s3\" b='1' c = \"&lt;'\"\n/>", "<a></a>"),
        ("<n:a xmlns:n=\"urn:n\"><n:b/><c/></n:a>", "<a><b></b><c></c></a>"),
        ("<a><b p:type=\"User\" xmlns:p=\"urn:p\" xml:lang='en'/></a>", "<a><b></b></a>"),
    ])
    func documentIsReadAsEvents(document: String, events: String) throws {
        #expect(try read(document.utf8) == events)
    }

    @Test(arguments: [
        // Structure.
        ("", 0), (" ", 1), ("a", 0), ("<", 1), ("<a", 2), ("<a>", 3), ("<a>b", 4), ("<a/", 3), ("<a/ >", 3),
        ("< a/>", 1), ("<a></b>", 4), ("<a></a", 6), ("<a><b></a></b>", 7), ("</a>", 1), ("<a/><b/>", 4),
        ("<a/>b", 4), ("<a/></a>", 5), ("<1/>", 1), ("<-/>", 1), ("<:a/>", 1), ("<a:/>", 3), ("<a:b:c/>", 4),
        // The declaration at another place, or malformed.
        ("<?xml encoding='UTF-8'?><a/>", 6), ("<?xml version='1.0'", 19), ("<?xml version='1.0'><a/>", 19),
        ("<?xml version='1.0'encoding='UTF-8'?><a/>", 19),
        ("<?xml version='1.0' standalone='no' encoding='UTF-8'?>", 36),
        // Text and references.
        ("<a>]]></a>", 3), ("<a>&</a>", 4), ("<a>&amp</a>", 7), ("<a>&#;</a>", 5), ("<a>&#x;</a>", 6),
        ("<a>&#65</a>", 7), ("<a>&#6A;</a>", 6), ("<a>&#X41;</a>", 5), ("&lt;<a/>", 0), ("\u{FEFF}\u{FEFF}<a/>", 3),
        // Comments.
        ("<a><!-- b -- c --></a>", 12), ("<a><!-- b ---></a>", 12), ("<a><!--></a>", 12), ("<!-- <a/>", 9),
        // Attributes and namespaces.
        ("<a b/>", 4), ("<a b=1/>", 5), ("<a b='1/>", 9), ("<a b='<'/>", 6), ("<a b='&'/>", 7), ("<a b='1'c='2'/>", 8),
        ("<a b='1' b='2'/>", 9), ("<a ='1'/>", 3), ("<a b '1'/>", 5), ("<a xmlns:n='' />", 9), ("<n:a/>", 1),
        ("<a n:b='1'/>", 3), ("<a><n:b xmlns:n='urn:n'/><n:c/></a>", 26), ("<a xmlns:xmlns='b'/>", 9),
        ("<a xmlns:xml='b'/>", 9), ("<xmlns:a/>", 1), ("<n:a xmlns:n='1'></a>", 18),
    ])
    func refusesWhatIsNotWellFormed(document: String, offset: Int) {
        #expect(failure(document.utf8) == XMLError(.syntax, at: offset))
    }

    @Test(arguments: [
        ("<!DOCTYPE a><a/>", 0), ("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", 0),
        ("<a><![CDATA[b]]></a>", 3), ("<a>&b;</a>", 3), ("<a>&AMP;</a>", 3), ("<?x?><a/>", 0), ("<a><?x?></a>", 3),
        ("<a><?x y?></a>", 3), ("<a/><?x?>", 4), (" <?xml version='1.0'?><a/>", 1), ("<?xml-stylesheet?><a/>", 0),
        ("<?xml version='1.1'?><a/>", 15), ("<?xml version='1.0' encoding='UTF-16'?><a/>", 30),
        ("<?xml version='1.0' encoding='IBM037'?><a/>", 30), ("<?xml version='1.0' standalone='x'?><a/>", 32),
        ("<é/>", 1), ("<aé/>", 2), ("<a é='1'/>", 3), ("<a>&é;</a>", 4),
    ])
    func refusesWhatIsNotSupported(document: String, offset: Int) {
        #expect(failure(document.utf8) == XMLError(.unsupported, at: offset))
    }

    @Test(arguments: [
        ("<a>&#0;</a>", 3), ("<a>&#x1;</a>", 3), ("<a>&#xD800;</a>", 3), ("<a>&#xFFFE;</a>", 3),
        ("<a>&#x110000;</a>", 3), ("<a>&#99999999999999999999;</a>", 3), ("<a>\u{0}</a>", 3), ("<a>\u{B}</a>", 3),
        ("<a>\u{FFFF}</a>", 3), ("<a b='\u{1F}'/>", 6), ("<!-- \u{1} --><a/>", 5),
    ])
    func refusesCharactersThatXMLDoesNotHave(document: String, offset: Int) {
        #expect(failure(document.utf8) == XMLError(.invalidText, at: offset))
    }

    /// A byte that is not UTF-8 at each possible place; another parser trapped at some of them.
    @Test(arguments: [
        "<a|/>", "<|/>", "<|:a/>", "<a |='1'/>", "<a b='|'/>", "<a xmlns:|='1'/>", "<a>|</a>", "<a><!-- | --></a>",
        "<a><![CDATA[|]]></a>", "<a><?| ?></a>", "<a></|>", "|<a/>", "<a/>|", "<!DOCTYPE |>", "<a>&|;</a>", "|",
    ])
    func refusesBytesThatAreNotUTF8(document: String) {
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE4, 0xB8]] as [[UInt8]] {
            let parts = document.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            let failure = failure(Array(parts.joined(separator: bytes)))
            #expect(failure == XMLError(.invalidText, at: parts[0].count))
        }
    }

    @Test func refusesOtherEncodings() {
        let document = "<a/>"
        #expect(failure(document.utf16.flatMap { [UInt8($0), 0] })?.reason == .invalidText)
        #expect(failure([0xFE, 0xFF] + document.utf16.flatMap { [0, UInt8($0)] })?.reason == .invalidText)
        // The encoding IBM037.
        #expect(failure([0x4C, 0x81, 0x61, 0x6E])?.reason != nil)
        #expect(failure("+ADw-a/>".utf8)?.reason == .syntax)
    }

    @Test func documentOverTheSizeLimitIsRefused() throws {
        let document = Array("<a/>".utf8)
        var reader = try XMLReader(document, maximumBytes: 4)
        #expect(try reader.next() == .start("a"))
        #expect(throws: XMLError(.limitExceeded, at: 3)) { _ = try XMLElement(parsing: document, maximumBytes: 3) }
    }

    @Test func documentNestedTooDeepIsRefused() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(failure(nested(16).utf8) == nil)
        #expect(failure(nested(17).utf8) == XMLError(.limitExceeded, at: 16 * 3 + 1))
        #expect(failure(String(repeating: "<a>", count: 1_000_000).utf8)?.reason == .limitExceeded)
    }

    @Test func limitsNamesAndValues() {
        let name = String(repeating: "a", count: 128)
        #expect(failure("<\(name)/>".utf8) == nil)
        #expect(failure("<\(name)a/>".utf8) == XMLError(.limitExceeded, at: 1))
        #expect(failure("<b \(name)a='1'/>".utf8) == XMLError(.limitExceeded, at: 3))
        let value = String(repeating: "v", count: 1024)
        #expect(failure("<b c='\(value)'/>".utf8) == nil)
        #expect(failure("<b c='\(value)v'/>".utf8) == XMLError(.limitExceeded, at: 6))
    }

    /// Comparing each attribute with each other took 11 seconds without a limit of their number.
    @Test func limitsTheNumberOfAttributes() {
        func element(_ count: Int) -> String { "<a" + (0..<count).map { " b\($0)=''" }.joined() + "/>" }
        #expect(failure(element(16).utf8) == nil)
        #expect(failure(element(17).utf8)?.reason == .limitExceeded)
        let many = element(200_000)
        #expect(failure(many.utf8) == XMLError(.limitExceeded, at: element(16).utf8.count - 1))
    }

    @Test func limitsThePrefixesInScope() {
        func element(_ count: Int, _ children: String) -> String {
            "<a" + (0..<count).map { " xmlns:b\($0)='urn:b'" }.joined() + ">\(children)</a>"
        }
        #expect(failure(element(15, "<c xmlns:d='1'/><c xmlns:e='1'/>").utf8) == nil)
        #expect(failure(element(16, "<c xmlns:d='1'/>").utf8)?.reason == .limitExceeded)
    }

    @Test func failsForGood() throws {
        var reader = try XMLReader(Array("<a><?x?></a>".utf8), maximumBytes: 100)
        _ = try reader.next()
        for _ in 0..<3 {
            do throws(XMLError) {
                _ = try reader.next()
                Issue.record("the reader goes on after an error")
            } catch {
                #expect(error == XMLError(.unsupported, at: 3))
            }
        }
        let error = XMLError(.unsupported, at: 3)
        #expect(error.description == "byte 3: the document uses a part of XML that is not supported")
    }
}
