import Basics
import Crypto

/// What version 4 of OSS's signature took over from AWS's: a chain of keys over a scope, and the text that is signed.
struct SignatureV4: Equatable {
    /// `yyyymmdd/region`; OSS's clients leave the region empty where they do not know one.
    struct Scope: Equatable {
        let day: String
        let region: String
    }

    let algorithm: String
    /// What stands before the secret in the first key.
    private let keyPrefix: String
    private let service: String
    private let terminator: String

    static let oss = SignatureV4(
        algorithm: "OSS4-HMAC-SHA256", keyPrefix: "aliyun_v4", service: "oss", terminator: "aliyun_v4_request")
    static let s3 = SignatureV4(
        algorithm: "AWS4-HMAC-SHA256", keyPrefix: "AWS4", service: "s3", terminator: "aws4_request")

    func text(of scope: Scope) -> String {
        "\(scope.day)/\(scope.region)/\(service)/\(terminator)"
    }

    /// `AK/yyyymmdd/region/service/terminator`; nil where it has another form or names another service.
    func credential(_ text: some StringProtocol) -> (accessKeyID: String, scope: Scope)? {
        let words = text.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 5, words[1].utf8.count == 8, words[3] == service, words[4] == terminator else {
            return nil
        }
        return (String(words[0]), Scope(day: String(words[1]), region: String(words[2])))
    }

    /// Hex-decoded: 32 bytes.
    ///
    /// - Parameter date: in the form in which the request has it.
    func signature(of canonicalRequest: String, date: String, scope: Scope, secret: Secret) -> [UInt8] {
        let canonical = Digest.sha256(Array(canonicalRequest.utf8))
        let text = [algorithm, date, text(of: scope), Hex.lower(canonical)].joined(separator: "\n")
        return HMAC.sha256(key: signingKey(scope, secret), Array(text.utf8))
    }

    func signingKey(_ scope: Scope, _ secret: Secret) -> [UInt8] {
        [scope.day, scope.region, service, terminator].reduce(Array(keyPrefix.utf8) + secret.exposed) {
            HMAC.sha256(key: $0, Array($1.utf8))
        }
    }

    /// Sorted by encoded name, then value.
    ///
    /// - Parameters:
    ///   - signature: the parameter that carries the signature of a presigned URL, which is not part of what it signs.
    ///   - emptyValue: what stands behind a name without a value.
    static func canonicalQuery(
        _ parameters: [RequestTarget.Parameter], without signature: String, emptyValue: String
    ) -> String {
        parameters.filter { $0.name != signature }
            .map { (name: URLEncoding.encode($0.name), value: URLEncoding.encode($0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { $0.name + ($0.value.isEmpty ? emptyValue : "=\($0.value)") }
            .joined(separator: "&")
    }
}
