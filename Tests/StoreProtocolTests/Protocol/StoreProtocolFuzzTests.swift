import Basics
import Crypto
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

/// Valid inputs with random changes from fixed seeds: none may cause a trap.
@Suite(.timeLimited) struct StoreProtocolFuzzTests {
    private static let rounds = 400

    private func mutate(_ text: String, _ generator: inout SeededGenerator) -> String {
        String(decoding: mutatedBytes(text, &generator), as: UTF8.self)
    }

    /// Returns changed bytes, which may not be valid text any more.
    private func mutatedBytes(_ text: String, _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0...Int.random(in: 0...4, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0...3, using: &generator) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            default:
                let piece = bytes[place...].prefix(Int.random(in: 0...40, using: &generator))
                bytes.insert(contentsOf: Array(piece), at: Int.random(in: 0...bytes.count, using: &generator))
            }
        }
        return bytes
    }

    @Test(arguments: 1...20)
    func changedRequestsNeverTrap(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let secret = Secret(SignatureVectors.oss.secret)
        let dialect: any StoreDialect = seed % 2 == 0 ? OSSDialect() : S3Dialect(publicAuthority: nil)
        let vectors = (seed % 2 == 0 ? SignatureVectors.oss : .s3).vectors
        var read = 0
        for _ in 0..<Self.rounds {
            guard let vector = vectors.randomElement(using: &generator) else { return }
            let target = mutate(vector.target, &generator)
            guard let parsed = try? RequestTarget(target, host: "b-1.h", domains: ["h"]) else { continue }
            var fields = HTTPFields()
            for (name, value) in vector.headers.sorted(by: { $0.key < $1.key }) {
                fields.append(name, Bool.random(using: &generator) ? value : mutate(value, &generator))
            }
            let request = SignedRequest(method: vector.method, target: parsed, fields: fields)
            _ = try? dialect.operation(of: request)
            _ = try? dialect.payload(of: request, .chunked, nil)
            _ = try? dialect.authentication(of: request).isSigned(request, by: secret)
            read += 1
        }
        #expect(read > 0)
    }

    @Test(arguments: 1...20)
    func changedDocumentsRangesAndDatesNeverTrap(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let document = """
            <CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"AB"</ETag></Part><Part><PartNumber>2\
            </PartNumber><ETag>&quot;CD&quot;</ETag></Part></CompleteMultipartUpload>
            """
        for _ in 0..<Self.rounds {
            if let list = try? CompletionList(xml: mutatedBytes(document, &generator)) {
                #expect(list.parts.allSatisfy { (1...10_000).contains($0.number) })
            }
            if let range = ByteRange(mutate("bytes=10-9223372036854775806", &generator))?.resolved(in: 1000) {
                #expect(0 <= range.lowerBound && range.lowerBound < range.upperBound && range.upperBound <= 1000)
            }
            if let time = Timestamps.parseHTTP(mutate("Sun, 06 Nov 1994 08:49:37 GMT", &generator)) {
                #expect(Timestamps.parseHTTP(Timestamps.http(time)) == time)
            }
            _ = Timestamps.parseBasic(mutate("19941106T084937Z", &generator))
            _ = try? StoreEndpoint(mutate("http://oss-lab.example.com:8080", &generator))
        }
    }

    @Test(arguments: 1...20)
    func changedFormsListsAndOptionsNeverTrap(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let form = """
            --b\r\nContent-Disposition: form-data; name="key"\r\n\r\nup/x\r\n--b\r\n\
            Content-Disposition: form-data; name="file"; filename="a"\r\n\r\nbytes\r\n--b--\r\n
            """
        let policy = """
            {"expiration":"2030-01-01T00:00:00Z","conditions":[{"bucket":"b"},["eq","$key","\\u0041"],\
            ["in","$key",["A","b"]],["not-in","$a",[]],["content-length-range",1,9223372036854775807]]}
            """
        let tags = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>"
        let list = "<Delete><Quiet>true</Quiet><Object><Key>a</Key><VersionId>null</VersionId></Object></Delete>"
        for _ in 0..<Self.rounds {
            if var parser = FormParser(["Content-Type": mutate("multipart/form-data; boundary=b", &generator)]) {
                let bytes = mutatedBytes(form, &generator)
                let cut = Int.random(in: 0...bytes.count, using: &generator)
                for piece in [bytes[..<cut], bytes[cut...]] { _ = try? piece.withUnsafeBytes { try parser.read($0) } }
            }
            if let read = try? FormPolicy(Base64.encode(mutatedBytes(policy, &generator))) {
                try? read.check(["key": "A"], bucket: "b", now: UnixTime(seconds: 0), coversAllFields: seed % 2 == 0)
            }
            if let set = try? TagSet(xml: mutatedBytes(tags, &generator)) {
                #expect(try TagSet(query: set.query) == set)
            }
            if let read = try? DeletionList(xml: mutatedBytes(list, &generator)) { #expect(!read.items.isEmpty) }
            let fields: HTTPFields = [
                "x-amz-copy-source": mutate("/bucket/key?versionId=null", &generator),
                "x-amz-copy-source-range": mutate("bytes=1-9223372036854775807", &generator),
                "x-amz-meta-a": mutate("value", &generator), "cache-control": mutate("no-cache", &generator),
                "if-match": mutate("\"a\", \"b\"", &generator),
            ]
            if let source = try? CopySourceHeader(fields, .s3), let range = source.range {
                #expect(range.upperBound < .max)
            }
            if let kept = try? KeptFields(fields, .s3) {
                #expect(kept.fields(.s3).fields.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 } })
            }
            _ = try? WriteCondition(fields)
        }
    }
}
