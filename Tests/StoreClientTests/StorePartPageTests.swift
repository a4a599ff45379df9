import HTTPClient
import TestSupport
import Testing

@testable import StoreClient

@Suite(.timeLimited) struct StorePartPageTests {
    private func page(_ inner: String, after marker: Int = 0) throws -> StorePartPage {
        let document = "<ListPartsResult xmlns='urn:s3'><UploadId>u</UploadId>\(inner)</ListPartsResult>"
        return try StorePartPage(Array(document.utf8), after: marker)
    }

    private func part(_ number: Int, size: String = "5", etag: String = "&quot;a&quot;") -> String {
        "<Part><PartNumber>\(number)</PartNumber><Size>\(size)</Size><ETag>\(etag)</ETag></Part>"
    }

    @Test func pageListsItsParts() throws {
        let last =
            "<Part><ETag>b</ETag><HashCrc64ecma>7</HashCrc64ecma><Size>0</Size><PartNumber>10000</PartNumber></Part>"
        let page = try page(part(3) + "<IsTruncated>true</IsTruncated>" + last, after: 2)
        #expect(
            page.parts == [
                StorePart(number: 3, size: 5, etag: "\"a\"", crc64: nil),
                StorePart(number: 10_000, size: 0, etag: "b", crc64: 7),
            ])
        #expect(page.isTruncated)
        #expect(try self.page("").parts.isEmpty)
    }

    @Test func refusesPartsThatDoNotAscend() {
        for parts in [part(2) + part(2), part(2) + part(1)] {
            #expect(throws: TransferFailure.self) { try page(parts) }
        }
        #expect(throws: TransferFailure.self) { try page(part(2), after: 2) }
        #expect(throws: TransferFailure.self) { try page("<IsTruncated>true</IsTruncated>", after: 2) }
    }

    @Test func refusesPartsThatNoStoreHas() {
        for parts in [
            part(0), part(10_001), part(1, size: "-1"), part(1, size: "9223372036854775808"),
            part(1, etag: String(repeating: "a", count: 1025)), "<Part/>",
        ] {
            #expect(throws: TransferFailure.self) { try page(parts) }
        }
        #expect(throws: TransferFailure.self) { try StorePartPage(Array("<html></html>".utf8), after: 0) }
    }

    @Test func refusesALongPage() throws {
        #expect(try page(part(1) + String(repeating: " ", count: 1_000_000)).parts.count == 1)
        #expect(throws: TransferFailure.self) { try page(String(repeating: " ", count: 1 << 20)) }
    }
}
