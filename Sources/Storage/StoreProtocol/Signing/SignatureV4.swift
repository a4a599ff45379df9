import Basics
import Crypto

/// The common part of OSS's and AWS's signature version 4: a chain of keys over a scope, and the signed text.
struct SignatureV4: Equatable {
    /// The scope `yyyymmdd/region`; OSS clients leave the region empty if it is unknown.
    struct Scope: Equatable {
        let day: String
        let region: String
    }

    let algorithm: String
    /// The text before the secret in the first key.
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

    /// Parses `AK/yyyymmdd/region/service/terminator`; `nil` if it has another form or names another service.
    func credential(_ text: some StringProtocol) -> (accessKeyID: String, scope: Scope)? {
        let words = text.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 5, words[1].utf8.count == 8, words[3] == service, words[4] == terminator else {
            return nil
        }
        return (String(words[0]), Scope(day: String(words[1]), region: String(words[2])))
    }

    /// Returns the decoded signature: 32 bytes.
    ///
    /// - Parameter date: in the form of the request.
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

    /// Returns the parameters sorted by encoded name, then by value.
    ///
    /// - Parameters:
    ///   - signature: the parameter with the signature of a presigned URL, which is not part of the signed text.
    ///   - emptyValue: the text after a name without a value.
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
