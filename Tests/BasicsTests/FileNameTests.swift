import Basics
import TestSupport
import Testing

@Suite(.timeLimited) struct FileNameTests {
    @Test(
        arguments: [
            ("run.mcap", "run.mcap"), ("/home/robot/run.mcap", "run.mcap"), (#"C:\logs\run.mcap"#, "run.mcap"),
            ("dir/", "dir"), ("Łódź 測試.bag", "Łódź 測試.bag"), ("a:b?.txt", "a_b_.txt"), ("..", nil), (".", nil),
            ("", nil),
            ("///", nil), ("   ", nil), (".bashrc", "_bashrc"), ("-rf", "_rf"), ("~root", "_root"),
            ("name. . ", "name"),
            ("CON", "_CON"), ("nul.txt", "_nul.txt"), ("com1.mcap", "_com1.mcap"), ("common.mcap", "common.mcap"),
            ("a\u{202E}gpj.exe", "agpj.exe"), ("a\u{0}b\n\tc", "abc"), ("\u{200B}", nil), ("\u{2028}x", "x"),
            (" run 7 .mcap", "run 7 .mcap"), ("../../etc/passwd", "passwd"), ("???", nil),
            ("a|b<c>d\"e*f", "a_b_c_d_e_f"),
        ] as [(String, String?)])
    func becomesTheNearestSafeName(source: String, name: String?) {
        #expect(FileName(source)?.text == name)
    }

    @Test func safeNameStaysAsItIs() {
        for source in ["2026-11-09T06-53-12_261120-000012_run07499.mcap", "é", "a b.c.d", "_"] where source != "_" {
            let name = FileName(source)
            #expect(name.flatMap { FileName($0.text) } == name)
            #expect(name?.text == source)
        }
    }

    @Test func longNameKeepsItsExtensionAndItsCharactersWhole() throws {
        let name = try #require(FileName(String(repeating: "é", count: 300) + ".mcap"))
        #expect(name.text.utf8.count <= FileName.longest)
        #expect(name.text.hasSuffix("é.mcap"))
        #expect(name.text.utf8.count > FileName.longest - 4)
        let family = String(repeating: "👨‍👩‍👧", count: 60)
        #expect(try #require(FileName(family)).text.utf8.count <= FileName.longest)
    }

    @Test(arguments: [
        ("a.MCAP", "mcap"), ("a.tar.gz", "gz"), ("a", ""), ("a.b c", ""), ("a.waytoolongtobeanextension", ""),
    ])
    func tellsItsExtension(name: String, expected: String) {
        #expect(FileName(name)?.fileExtension == expected)
    }
}
