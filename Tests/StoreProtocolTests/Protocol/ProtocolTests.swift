import Basics
import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct ProtocolTests {
    @Test func makesETags() {
        let md5s = [Digest.md5(Array("a".utf8)), Digest.md5(Array("b".utf8))]
        #expect(ETag.whole(md5: md5s[0], .oss) == "\"0CC175B9C0F1B6A831C399E269772661\"")
        // md5("0CC175B9C0F1B6A831C399E26977266192EB5FFEE6AE2FEC3AD71C777531578F"), by md5sum
        #expect(ETag.multipart(partMD5s: md5s, .oss) == "\"6A57590691A4345F35997DC1B3C6FFD6-2\"")
        #expect(ETag.matches("&quot;ab-1&quot;", "AB-1"))
        #expect(ETag.matches("\"ab\"", "\"AB\""))
        #expect(!ETag.matches("ab-1", "ab-2"))
    }

    @Test(
        arguments: [
            ("bytes=0-9", .bounded(first: 0, last: 9), 0..<9),
            ("Bytes=5-5", .bounded(first: 5, last: 5), 5..<6),
            ("bytes=3-", .from(3), 3..<9),
            ("bytes=-4", .suffix(4), 5..<9),
            ("bytes=-100", .suffix(100), 0..<9),
            ("bytes=0-9223372036854775807", .bounded(first: 0, last: .max - 1), 0..<9),
            ("bytes=2-99999999999999999999", .bounded(first: 2, last: .max - 1), 2..<9),
            ("bytes=99999999999999999999-", .from(.max - 1), nil),
            ("bytes=-99999999999999999999", .suffix(.max - 1), 0..<9),
            ("bytes=9-", .from(9), nil),
            ("bytes=-0", .suffix(0), nil),
        ] as [(String, ByteRange, Range<Int64>?)])
    func rangesResolveWithinTheSize(field: String, range: ByteRange, resolved: Range<Int64>?) {
        #expect(ByteRange(field) == range)
        #expect(range.resolved(in: 9) == resolved)
    }

    @Test func suffixesOfNothingAreSatisfiable() {
        #expect(ByteRange("bytes=-1")?.isSuffixOfBytes == true && ByteRange("bytes=-99")?.isSuffixOfBytes == true)
        for other in ["bytes=-0", "bytes=0-", "bytes=0-0"] { #expect(ByteRange(other)?.isSuffixOfBytes == false) }
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=2-1", "bytes=a-b", "items=0-1", "bytes=0-1,3-4", "bytes=+1-2",
        "bytes= 1-2", "bytes=1-2-3", "bytes=-",
    ])
    func ignoresOtherRanges(field: String) {
        #expect(ByteRange(field) == nil)
    }

    @Test func writesAndReadsTimes() {
        let time = UnixTime(seconds: 784_111_777)
        #expect(Timestamps.http(time) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(Timestamps.xml(time) == "1994-11-06T08:49:37.000Z")
        #expect(Timestamps.basic(time) == "19941106T084937Z")
        #expect(Timestamps.parseHTTP("Sun, 06 Nov 1994 08:49:37 GMT") == time)
        #expect(Timestamps.parseBasic("19941106T084937Z") == time)
        for text in ["19941106T084960Z", "19941306T084937Z", "19940229T000000Z", "1994", "19941106T084937+", "ü"] {
            #expect(Timestamps.parseBasic(text) == nil)
        }
        for text in ["", "Sun, 06 Nov 1994 08:49:37", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT"] {
            #expect(Timestamps.parseHTTP(text) == nil)
        }
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func timesOfFieldsHaveThreeForms(text: String) {
        #expect(Timestamps.parseHTTP(text) == UnixTime(seconds: 784_111_777))
    }

    @Test(
        arguments: [
            ("Friday, 27-Nov-26 00:00:00 GMT", 1_795_737_600), ("Wednesday, 25-Nov-76 00:00:00 GMT", 3_373_488_000),
            ("Monday, 29-Nov-76 00:00:00 GMT", 218_073_600), ("Tuesday, 29-Feb-00 00:00:00 GMT", 951_782_400),
            ("Saturday, 31-Dec-99 23:59:59 GMT", 946_684_799),
        ] as [(String, Int64)])
    func yearOfTwoDigitsIsAtMost50YearsAhead(text: String, seconds: Int64) {
        let now = UnixTime(seconds: 1_795_780_800)  // 27 November 2026, noon
        #expect(Timestamps.parseHTTP(text, now: now) == UnixTime(seconds: seconds))
    }

    @Test(arguments: [
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37",
        "Sunday, 06-Nov-94 08:49:37 UTC", "Sunday, 6-Nov-94 08:49:37 GMT", "Sunday, 31-Feb-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:60 1994", "Sun Nov  6 8:49:37 1994",
        "Sun Nov 06 08:49:37 1994 GMT", "Sun, 06 Nov 1994 08:49:37 +0000", "1994-11-06T08:49:37Z", "784111777",
    ])
    func otherTimesOfFieldsAreRefused(text: String) {
        #expect(Timestamps.parseHTTP(text) == nil)
    }

    @Test func agreesWithTheCalendarOfFoundation() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for step in 0..<4000 {
            let seconds = Int64(step) * 7_777_777
            let civil = CivilTime(UnixTime(seconds: seconds))
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second, .weekday],
                from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            #expect([civil.year, civil.month, civil.day] == [parts.year, parts.month, parts.day])
            #expect([civil.hour, civil.minute, civil.second] == [parts.hour, parts.minute, parts.second])
            #expect((civil.weekdayFromThursday + 4) % 7 + 1 == parts.weekday)
            #expect(civil.unix == UnixTime(seconds: seconds))
        }
    }

    @Test func completionIsReadPartByPart() throws {
        let body = """
            <?xml version="1.0" encoding="UTF-8"?>
            <CompleteMultipartUpload>
              <Part><PartNumber>1</PartNumber><ETag>"AA"</ETag></Part>
              <Part><ETag>&quot;bb&quot;</ETag><PartNumber> 2 </PartNumber></Part>
              <Part><PartNumber>3</PartNumber><ETag>cc</ETag></Part>
            </CompleteMultipartUpload>
            """
        let list = try CompletionList(xml: Array(body.utf8))
        #expect(list.parts.map(\.number) == [1, 2, 3])
        #expect(zip(list.parts, ["AA", "BB", "CC"]).allSatisfy { ETag.matches($0.etag, $1) })
        #expect(!zip(list.parts, ["AB", "B", "CCC"]).contains { ETag.matches($0.etag, $1) })
    }

    /// Deployed clients write the default namespace, some a prefix; unknown elements are ignored.
    @Test func readsACompletionWithANamespace() throws {
        let body = """
            \u{FEFF}<?xml version='1.0' encoding='utf-8'?>
            <s3:CompleteMultipartUpload xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/"><!-- parts -->
              text<Other a="1"><Deep/></Other>
              <s3:Part>text<s3:PartNumber>7</s3:PartNumber><s3:ETag>a<!-- -->&#98;</s3:ETag><Size>1</Size>
              <s3:ChecksumCRC32> AAAAAA== </s3:ChecksumCRC32><s3:ChecksumOther>x</s3:ChecksumOther></s3:Part>
            </s3:CompleteMultipartUpload>
            """
        let list = try CompletionList(xml: Array(body.utf8))
        #expect(list.parts == [CompletionList.Part(number: 7, etag: "ab", checksums: [.crc32: "AAAAAA=="])])
    }

    @Test func readsTheLongestCompletion() throws {
        let etag = String(repeating: "a", count: 32)
        let parts = (1...10_000).map { "<Part><PartNumber>\($0)</PartNumber><ETag>\(etag)</ETag></Part>" }
        func body(_ parts: [String]) -> [UInt8] {
            Array("<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>".utf8)
        }
        #expect(try CompletionList(xml: body(parts)).parts.map(\.number) == Array(1...10_000))
        #expect(throws: StoreError.self) { try CompletionList(xml: body(parts + [parts[0]])) }
    }

    @Test(arguments: [
        "", "<", "<CompleteMultipartUpload/>", "<CompleteMultipartUpload><Part/></CompleteMultipartUpload>",
        "<Other><Part><PartNumber>1</PartNumber><ETag>a</ETag></Part></Other>",
        "<CompleteMultipartUpload><Part><PartNumber>0</PartNumber><ETag>a</ETag></Part></CompleteMultipartUpload>",
        "<CompleteMultipartUpload><Part><PartNumber>10001</PartNumber><ETag>a</ETag></Part></CompleteMultipartUpload>",
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>",
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>a</ETag></Part>",
        "<CompleteMultipartUpload><Part><ETag><b><c/></b></ETag></Part></CompleteMultipartUpload>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&b;</ETag></Part>"
            + "</CompleteMultipartUpload>",
        "<CompleteMultipartUpload><?x?></CompleteMultipartUpload>", "<?x?><CompleteMultipartUpload/>",
    ])
    func refusesAMalformedCompletion(body: String) {
        #expect { try CompletionList(xml: Array(body.utf8)) } throws: {
            ($0 as? StoreError)?.code == .malformedXML
        }
    }

    @Test func completionOverTheLimitsIsRefused() {
        let body = [UInt8](repeating: UInt8(ascii: " "), count: CompletionList.maximumBytes + 1)
        #expect(throws: StoreError.self) { try CompletionList(xml: body) }
    }
}
