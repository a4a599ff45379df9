import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct RequestDocumentsTests {
    @Test func deletionListHasKeysAndConditions() throws {
        let list = try DeletionList(
            xml: Array(
                """
                <Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>a &amp; b</Key></Object>
                <Object><Key> c</Key><VersionId>null</VersionId><ETag>"1"</ETag></Object>
                <Object><Key>d</Key><VersionId>7</VersionId></Object>
                <Object><Key>e</Key><Size>7</Size></Object><Object><Key>f</Key></Object>
                <Object><Key>g</Key><Novelty>1</Novelty></Object><Quiet>true</Quiet></Delete>
                """.utf8))
        #expect(list.isQuiet)
        #expect(list.items.map(\.key) == ["a & b", " c", "d", "e", "f", "g"])
        #expect(list.items.map(\.etag) == [nil, "\"1\"", nil, nil, nil, nil])
        #expect(list.items.map(\.namesOtherVersion) == [false, false, true, false, false, false])
        #expect(list.items.map(\.otherCondition) == [nil, nil, nil, "Size", nil, "Novelty"])
    }

    @Test(arguments: [
        "", "<Delete/>", "<Delete><Object/></Delete>", "<Other><Object><Key>a</Key></Object></Other>",
        "<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>",
        "<Delete><Object><Key>a<x/></Key></Object></Delete>",
    ])
    func otherDocumentsAreNoDeletionList(text: String) {
        #expect(throws: CompletionList.malformed) { try DeletionList(xml: Array(text.utf8)) }
    }

    @Test func aThousandKeysAreTheMost() throws {
        func document(_ count: Int) -> [UInt8] {
            Array("<Delete>\((0..<count).map { "<Object><Key>\($0)</Key></Object>" }.joined())</Delete>".utf8)
        }
        #expect(try DeletionList(xml: document(1000)).items.count == 1000)
        #expect(throws: CompletionList.malformed) { try DeletionList(xml: document(1001)) }
    }

    @Test func tagsOfADocumentAndOfAQueryAreTheSame() throws {
        let document = """
            <Tagging><TagSet><Tag><Key>a b</Key><Value>ü</Value></Tag><Tag><Key>c</Key><Value/></Tag></TagSet></Tagging>
            """
        #expect(try TagSet(xml: Array(document.utf8)) == TagSet(query: "a+b=%C3%BC&c="))
        #expect(try TagSet(xml: Array(document.utf8)).query == "a%20b=%C3%BC&c=")
    }

    /// U+0301 combines with the separator before it.
    @Test func combiningCharactersAreTakenLiterallyInTags() throws {
        let tags = try TagSet(query: "a=\u{301}b&\u{301}c+\u{301}=d")
        #expect(tags.query == "a=%CC%81b&%CC%81c%20%CC%81=d")
    }

    /// Keys that Unicode takes for the same are different ones.
    @Test func keysOfTagsAreComparedByBytes() throws {
        let tags = try TagSet(query: "%C3%A9=1&e%CC%81=2")
        #expect(tags.query == "%C3%A9=1&e%CC%81=2")
        #expect(try tags != TagSet(query: "e%CC%81=1&%C3%A9=2"))
    }

    @Test(arguments: [("a=1&a=2", StoreError.Code.invalidTag), ("=1", .invalidTag), ("a=%zz", .invalidArgument)])
    func wrongTagsAreRefused(query: String, code: StoreError.Code) {
        let error = #expect(throws: StoreError.self) { try TagSet(query: query) }
        #expect(error?.code == code)
    }

    @Test(arguments: [
        ("/data/a%20b", "data", "a b"), ("data/a/b?versionId=null", "data", "a/b"), ("data/%C3%BC", "data", "ü"),
    ])
    func copySourceIsABucketAndAKey(text: String, bucket: String, key: String) throws {
        let source = try #require(
            try CopySourceHeader(["x-amz-copy-source": text, "x-amz-copy-source-range": "bytes=1-2"], .s3))
        #expect((source.bucket, source.key) == (bucket, key))
        #expect(source.range == 1...2)
    }

    @Test(arguments: ["data", "/data/", "data/a%00", "data/%zz", "arn:aws:s3:x/object/a", "data/a?versionId=1"])
    func otherCopySourcesAreRefused(text: String) {
        #expect(throws: StoreError.self) { try CopySourceHeader(["x-amz-copy-source": text], .s3) }
    }

    @Test func conditionsDecideByWhatIsThere() throws {
        let there = WriteCondition.Present(etag: "\"A\"", size: 3, isAppendable: true, fileID: "1")
        func violation(_ condition: WriteCondition, _ present: WriteCondition.Present?) -> WriteCondition.Violation? {
            do throws(WriteCondition.Violation) {
                try condition.check(present)
                return nil
            } catch { return error }
        }
        #expect(violation(.none, there) == nil)
        let absent = try WriteCondition(["If-None-Match": "*"])
        #expect((violation(absent, nil), violation(absent, there)) == (nil, .objectExists(forbidsOverwrite: false)))
        let forbidden = WriteCondition.forbidOverwrite
        #expect(
            (violation(forbidden, nil), violation(forbidden, there)) == (nil, .objectExists(forbidsOverwrite: true)))
        let match = try WriteCondition(["If-Match": "\"b\", \"a\""])
        #expect((violation(match, there), violation(match, nil)) == (nil, .noObject))
        #expect(violation(try WriteCondition(["If-Match": "\"b\""]), there) == .otherETag("\"A\""))
        #expect(violation(WriteCondition.none.and(appendAt: 3), there) == nil)
        #expect(violation(WriteCondition.none.and(appendAt: 0), nil) == nil)
        #expect(violation(WriteCondition.none.and(appendAt: 2), there) == .wrongPosition(2, size: 3))
        let read = WriteCondition.none.and(appendAt: 3, toFile: "1")
        #expect(violation(read, there) == nil)
        let replaced = WriteCondition.Present(etag: "\"A\"", size: 3, isAppendable: true, fileID: "2")
        #expect(violation(read, replaced) == .replaced(size: 3))
        let empty = WriteCondition.Present(etag: "\"A\"", size: 0, isAppendable: true, fileID: "2")
        #expect(violation(WriteCondition.none.and(appendAt: 0, toFile: nil), empty) == .replaced(size: 0))
        #expect(violation(absent.and(appendAt: 3), there) == .objectExists(forbidsOverwrite: false))
        let normal = WriteCondition.Present(etag: "\"A\"", size: 3, isAppendable: false, fileID: "1")
        #expect(violation(WriteCondition.none.and(appendAt: 3), normal) == .notAppendable)
    }
}
