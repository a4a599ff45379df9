import TestSupport
import Testing

@testable import XML

@Suite(.timeLimited) struct FlatXMLTests {
    @Test func reservedCharactersAreEscaped() {
        var xml = FlatXML("Result", [FlatXML.Element("Key", "a<&>\"'\rü")])
        xml.append("Part", [FlatXML.Element("ETag", "\"A\"")])
        #expect(
            String(decoding: xml.bytes, as: UTF8.self) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <Result><Key>a&lt;&amp;&gt;&quot;'&#13;ü</Key><Part><ETag>&quot;A&quot;</ETag></Part></Result>

                """)
    }
}
