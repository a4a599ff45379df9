import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct KeptFieldsTests {
    @Test func nothingIsKeptOfAPlainRequest() throws {
        let fields: HTTPFields = ["Content-Type": "a/b", "Content-MD5": "x", "x-amz-date": "y", "Host": "z"]
        #expect(try KeptFields(fields, .s3).text == nil)
    }

    @Test func metadataOfOneProtocolIsThatOfTheOther() throws {
        let kept = try KeptFields(["x-amz-meta-Color": "red: very", "Cache-Control": "no-cache"], .s3)
        #expect(kept.fields(.oss) == ["x-oss-meta-color": "red: very", "cache-control": "no-cache"])
        #expect(KeptFields(text: kept.text) == kept)
    }

    @Test func valuesAreKeptByteForByte() throws {
        let value = "\u{308}\u{e9}: x"
        #expect(
            try KeptFields(["x-amz-meta-a": value], .s3).fields(.oss)["x-oss-meta-a"].map { Array($0.utf8) }
                == Array(value.utf8))
    }

    @Test(arguments: [
        ("aws-chunked", nil), ("gzip,aws-chunked", "gzip"), ("aws-chunked, br, gzip", "br, gzip"), ("gzip", "gzip"),
    ])
    func framingOfTheBodyIsNoEncodingOfTheObject(sent: String, kept: String?) throws {
        #expect(try KeptFields(["Content-Encoding": sent], .s3).fields(.s3)["content-encoding"] == kept)
    }

    @Test func tagsAndAppendabilityChangeBesideMetadata() throws {
        var kept = try KeptFields(["x-oss-meta-a": "1", "x-oss-tagging": "k%20=v%3D&l"], .oss)
        #expect(kept.tags == (try TagSet(query: "k%20=v%3D&l=")))
        kept.isAppendable = true
        kept.tags = TagSet()
        #expect(kept.isAppendable && kept.tags.isEmpty)
        #expect(kept.fields(.oss) == ["x-oss-meta-a": "1"])
        kept.isAppendable = false
        #expect(kept == (try KeptFields(["x-oss-meta-a": "1"], .oss)))
    }

    @Test(
        arguments: [
            ([:], nil), (["x-oss-meta-a": "1"], nil), (["x-oss-meta-a": "2"], "x-oss-meta-a"),
            (["x-oss-meta-b": "1"], "x-oss-meta-b"), (["Cache-Control": "no-cache"], "cache-control"),
            (["x-oss-tagging": "k=v"], nil), (["x-oss-tagging": "k=w"], "x-oss-tagging"),
        ] as [(HTTPFields, String?)])
    func fieldThatOthersLackIsNamed(fields: HTTPFields, name: String?) throws {
        let others = try KeptFields(["x-oss-meta-a": "1", "x-oss-tagging": "k=v"], .oss)
        #expect(try KeptFields(fields, .oss).difference(from: others, .oss) == name)
    }

    @Test(arguments: [
        ("x-amz-meta-a", "b\r\nSet-Cookie: c"), ("x-amz-meta-a b", "c"), ("Cache-Control", "a\u{0}"),
        ("Content-Type", "a/b\n"), ("x-amz-meta-", "\u{7F}"),
        ("x-amz-meta-a", "b\tc"),
    ])
    func bytesThatNoHeaderFieldCanHaveAreRefused(name: String, value: String) {
        var fields: HTTPFields = [:]
        fields.append(name, value)
        #expect(throws: StoreError.self) { try KeptFields(fields, .s3) }
    }

    /// Rows of earlier releases may have them.
    @Test func storedFieldsThatCannotBeSentAreLeftOut() {
        let kept = KeptFields(text: "meta-a: x\ry\nmeta-a b: c\nmeta-t: a\tb\nmeta-ok: fine")
        #expect(kept.fields(.s3) == ["x-amz-meta-ok": "fine"])
        #expect(kept.fields(.oss) == ["x-oss-meta-ok": "fine"])
    }

    @Test func metadataOf2KiBIsTheMost() throws {
        let value = String(repeating: "x", count: KeptFields.maximumMetadata - 1)
        #expect(try KeptFields(["x-amz-meta-a": value], .s3).text != nil)
        let error = #expect(throws: StoreError.self) { try KeptFields(["x-amz-meta-ab": value], .s3) }
        #expect(error?.code == .metadataTooLarge)
    }
}
