import Basics
import Crypto
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

/// The examples in S3's API reference ("Signature calculations for the Authorization header: transferring payload in multiple
/// chunks").
@Suite(.timeLimited) struct ChunkSignaturesTests {
    private static let secret = Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    private static let seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
    private static let chunks = [
        "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
        "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
        "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
    ]
    private static let trailingSeed = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
    private static let trailingChunks = [
        "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
        "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
        "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
    ]
    private static let trailer = "x-amz-checksum-crc32c:sOO8/Q==\r\n"
    private static let trailerSignature = "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435"

    private func request() throws -> SignedRequest {
        let names = "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;"
        return SignedRequest(
            method: "PUT", target: try RequestTarget("/examplebucket/chunkObject.txt", host: "h", domains: []),
            fields: [
                "Host": "s3.amazonaws.com", "x-amz-date": "20130524T000000Z",
                "x-amz-storage-class": "REDUCED_REDUNDANCY", "content-encoding": "aws-chunked",
                "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "Content-Length": "66824",
                "x-amz-decoded-content-length": "66560",
                "Authorization": "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                    + "SignedHeaders=\(names)x-amz-storage-class,Signature=\(Self.seed)",
            ])
    }

    /// 66,560 times `a` in two chunks, and the empty last chunk.
    private func body(_ signatures: [String], trailer: String = "") -> [UInt8] {
        let chunks = zip([65_536, 1024, 0], signatures).map { size, signature in
            "\(String(size, radix: 16));chunk-signature=\(signature)\r\n" + String(repeating: "a", count: size)
                + (size > 0 ? "\r\n" : "")
        }
        return Array((chunks.joined() + trailer + "\r\n").utf8)
    }

    private func read(_ body: [UInt8], seed: String, trailer: String?) throws -> Int {
        let authentication = try S3Authentication(request: request(), publicAuthority: nil).read()
        let scheme = try #require(authentication.scheme as? S3Signature)
        let seed = try #require(Hex.decode(seed))
        let signatures = try #require(scheme.chunkSignatures(behind: seed, secret: Self.secret) as ChunkSignatures?)
        let checks = BodyChecks(algorithm: trailer.flatMap(ChecksumAlgorithm.init(field:)))
        let reader = AWSChunkReader(
            length: 66_560, trailer: trailer, checks: checks, signatures: signatures)
        var count = 0
        for start in stride(from: 0, to: body.count, by: 7919) {
            try body[start..<min(start + 7919, body.count)].withUnsafeBytes { bytes in
                try reader.read(bytes) { count += $0.count }
            }
        }
        try reader.finish()
        return count
    }

    @Test func examplesOfTheSpecificationAreAccepted() throws {
        let request = try request()
        #expect(try S3Authentication(request: request, publicAuthority: nil).read().isSigned(request, by: Self.secret))
        #expect(try read(body(Self.chunks), seed: Self.seed, trailer: nil) == 66_560)
        let trailer = "\(Self.trailer)x-amz-trailer-signature:\(Self.trailerSignature)\r\n"
        let trailed = body(Self.trailingChunks, trailer: trailer)
        #expect(try read(trailed, seed: Self.trailingSeed, trailer: "x-amz-checksum-crc32c") == 66_560)
    }

    private func refusal(_ body: [UInt8], seed: String, trailer: String? = nil) -> StoreError.Code? {
        do {
            _ = try read(body, seed: seed, trailer: trailer)
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test func refusesWhatWasChanged() throws {
        var changed = body(Self.chunks)
        changed[1000] = UInt8(ascii: "b")
        #expect(refusal(changed, seed: Self.seed) == .signatureDoesNotMatch)
        #expect(refusal(body(Self.chunks), seed: Self.trailingSeed) == .signatureDoesNotMatch)
        for signatures in [
            [Self.chunks[1], Self.chunks[0], Self.chunks[2]], [Self.chunks[0], Self.chunks[1], Self.chunks[1]],
            [Self.chunks[0], "", Self.chunks[2]], [Self.chunks[0], "zz", Self.chunks[2]],
        ] {
            #expect(refusal(body(signatures), seed: Self.seed) == .signatureDoesNotMatch)
        }
        let unsigned = String(decoding: body(Self.chunks), as: UTF8.self).replacing("chunk-signature", with: "other")
        #expect(refusal(Array(unsigned.utf8), seed: Self.seed) == .signatureDoesNotMatch)
        for trailer in [
            Self.trailer, "\(Self.trailer)x-amz-trailer-signature:\(Self.seed)\r\n",
            "x-amz-checksum-crc32c:AAAAAA==\r\nx-amz-trailer-signature:\(Self.trailerSignature)\r\n",
        ] {
            let body = body(Self.trailingChunks, trailer: trailer)
            let code = refusal(body, seed: Self.trailingSeed, trailer: "x-amz-checksum-crc32c")
            #expect(code == .signatureDoesNotMatch)
        }
    }
}
