import HTTPTypes
import StoreProtocol
import TestSupport
import Testing

@Suite(.timeLimited) struct ResponseOverridesTests {
    private func overrides(_ query: String) throws -> ResponseOverrides {
        try ResponseOverrides(try RequestTarget("/bucket/key?\(query)", host: "", domains: []))
    }

    @Test func nameTheFieldsOfTheAnswer() throws {
        let fields = try overrides(
            "response-content-type=text%2Fplain&response-content-disposition=inline&response-cache-control=no-store"
                + "&response-content-encoding=gzip&response-content-language=de&response-expires=0"
        ).fields
        #expect(
            fields == [
                "Cache-Control": "no-store", "Content-Disposition": "inline", "Content-Encoding": "gzip",
                "Content-Language": "de", "Content-Type": "text/plain", "Expires": "0",
            ])
    }

    @Test func areAbsentWithoutTheirParameters() throws {
        #expect(try overrides("uploadId=7&response-content-type=").fields == [:])
    }

    @Test(arguments: [
        "response-content-type=a%0D%0ASet-Cookie:%20b", "response-expires=a%01b",
        "response-content-type=a&response-content-type=b",
        "response-content-language=" + String(repeating: "x", count: 1025),
    ])
    func refuseWhatNoFieldCanHave(query: String) {
        #expect(throws: StoreError.self) { try overrides(query) }
    }

    @Test(arguments: [
        ("", true), ("response-content-disposition=attachment;%20filename=a", true),
        ("response-content-disposition=Attachment%20%20;a", true), ("response-content-disposition=inline", false),
        ("response-content-disposition=attachmentx", false),
    ])
    func knowWhatABrowserSaves(query: String, isAttachment: Bool) throws {
        #expect(try overrides(query).isAttachment == isAttachment)
    }

    @Test(arguments: [
        ("run.mcap", #"attachment; filename="run.mcap"; filename*=UTF-8''run.mcap"#),
        ("a \"b\" é.txt", #"attachment; filename="a _b_ _.txt"; filename*=UTF-8''a%20%22b%22%20%C3%A9.txt"#),
        ("100%.csv", #"attachment; filename="100_.csv"; filename*=UTF-8''100%25.csv"#),
    ])
    func fileNameIsInBothForms(name: String, disposition: String) {
        #expect(DownloadName(fileName: name).contentDisposition == disposition)
    }
}
