import AppProto
import TestSupport
import Testing

@testable import LibraryArchive

@Suite(.timeLimited) struct LibraryDocumentTests {
    private static let head =
        #""id":"3F2504E0-4F89-11D3-9A0C-0305E82C3301","createdAt":"2019-06-09T14:51:29.574Z","updatedAt":"2019-06-09T22:51:29.5+08:00""#

    private func read(_ document: LibraryDocument, _ json: String) throws -> LibraryContents {
        var contents = LibraryContents()
        try document.read(Array(json.utf8))(&contents)
        return contents
    }

    private func problem(_ document: LibraryDocument, _ json: String) -> String? {
        do {
            _ = try read(document, json)
            return nil
        } catch ArchiveFailure.document(let problem) {
            return problem
        } catch {
            return "\(error)"
        }
    }

    @Test func nullCharacterInARecordIsRefused() {
        let json = #"{"tags":[{"name":"a\u0000"}]}"#
        #expect(problem(.tags, json)?.hasSuffix("a string must not contain the character U+0000") == true)
    }

    @Test func documentsOfTheAppAreRead() throws {
        let json = """
            {"more":[1,{}],"digests":[{\(Self.head),"serverId":"","content":"甲","pageIndex":12,"category":1,"other":null,
            "book":{"id":"x","isbn13":"","isbn10":"","bookName":"b"},"tags":[{"id":"y","name":"","color":""}]}]}
            """
        let digest = try #require(try read(.digests, json).digests.first)
        #expect(digest.content == "甲" && digest.pageIndex == 12 && digest.category == 1)
        // They follow from the documents of books and tags.
        #expect(digest.book == nil && digest.tags.isEmpty)
        let books = #"{"books":[{\#(Self.head),"authors":["a"],"digestIds":["d"]}]}"#
        #expect(try read(.books, books).books.map(\.digestIDs) == [["d"]])
        let creators = #"{"creators":[{\#(Self.head),"writtenBooks":[{"id":"b","bookName":"long"}]}]}"#
        #expect(try read(.creators, creators).creators[0].writtenBooks.map(\.bookName) == [""])
        #expect(try read(.tags, #"{"tags":[]}"#).count == 0)
    }

    @Test(arguments: [
        ("", "books.json: byte 0: the text is not valid JSON"),
        ("[]", "books.json: byte 0: the text is not valid JSON"),
        ("{}", "books.json: the member books is missing"),
        (#"{"books":[],"books":[]}"#, "books.json: the member books occurs twice"),
        (#"{"books":[]} x"#, "books.json: byte 13: the text is not valid JSON"),
        (#"{"books":[1]}"#, "books.json: books[0]: the record has a value of the wrong type"),
        (#"{"books":[{"name":1}]}"#, "books.json: books[0]: name has a value of the wrong type"),
        (#"{"books":[{}]}"#, "books.json: books[0]: id must be a UUID"),
        (
            #"{"books":[{"id":"3F2504E0-4F89-11D3-9A0C-0305E82C330g"}]}"#,
            "books.json: books[0]: id must be a UUID"
        ),
    ])
    func problemsNameTheRecordAndTheRule(json: String, expected: String) {
        #expect(problem(.books, json) == expected)
    }

    @Test func limitsAreChecked() {
        let (name, content) = (String(repeating: "x", count: 4097), String(repeating: "x", count: 262_145))
        #expect(
            problem(.tags, #"{"tags":[{\#(Self.head)},{\#(Self.head),"name":"\#(name)"}]}"#)
                == "tags.json: tags[1]: name must be at most 4096 bytes")
        #expect(
            problem(.digests, #"{"digests":[{\#(Self.head),"content":"\#(content)"}]}"#)
                == "digests.json: digests[0]: content must be at most 262144 bytes")
        let record = String(repeating: "x", count: 4 << 20)
        #expect(
            problem(.tags, #"{"tags":[{"x":"\#(record)"}]}"#)
                == "tags.json: tags[0]: a record can have at most 4194304 bytes")
        let ids = Array(repeating: #""""#, count: 180_000).joined(separator: ",")
        let tag = #"{\#(Self.head),"digestIds":[\#(ids)]}"#
        #expect(
            problem(.tags, #"{"tags":[\#(tag),\#(tag),\#(tag)]}"#)
                == "tags.json: a library can have at most 500000 relations between records")
    }

    /// Values that are small in JSON and large in memory: a record of 4 MiB could take 300 MiB.
    @Test func valuesOfARecordAreLimited() throws {
        let books = Array(repeating: "{}", count: 200_000).joined(separator: ",")
        #expect(
            problem(.creators, #"{"creators":[{\#(Self.head),"writtenBooks":[\#(books)]}]}"#)
                == "creators.json: creators[0]: a record can have at most 200000 values")
        // Commas in texts separate no values.
        let text = String(repeating: ",", count: 200_000) + #"\",\\"#
        let digest = try read(.digests, #"{"digests":[{\#(Self.head),"content":"\#(text)"}]}"#).digests.first
        #expect(digest?.content.utf8.count == 200_003)
    }

    @Test func relationsAreThoseOfCreatorsBooksAndTagsOnce() {
        let relations = LibraryRelations(
            LibraryContents(
                books: [PlainBook(id: "b", digestIDs: ["d", "d", "e"]), PlainBook(id: "c", digestIDs: ["e"])],
                creators: [
                    PlainCreator(
                        id: "a", writtenBooks: [PlainBookReference(id: "b"), PlainBookReference(id: "b")],
                        translatedBooks: [PlainBookReference(id: "b")])
                ], tags: [PlainTag(id: "t", digestIDs: ["d", "d"])]))
        #expect(relations.authorships.map(\.kind) == [.written, .translated])
        #expect(relations.books == ["d": "b", "e": "c"])
        #expect(relations.taggings == [LibraryRelations.Tagging(tag: "t", digest: "d")])
    }
}
