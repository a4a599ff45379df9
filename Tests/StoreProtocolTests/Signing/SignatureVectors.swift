import Foundation
import HTTPTypes
import Testing

@testable import StoreProtocol

/// Requests signed by the Python clients; made with `Vectors/oss.py` and `Vectors/s3.py`.
struct SignatureVectors: Decodable {
    struct Vector: Decodable, CustomTestStringConvertible {
        let client: String
        let version: String
        let mode: String
        let method: String
        let bucket: String
        let key: String
        let target: String
        /// The host; `nil` if it is not signed.
        let host: String?
        let headers: [String: String]

        var testDescription: String { "\(client) \(version) \(mode) \(method) \(target.prefix(40))" }

        /// Returns the signed request with the given changes.
        func request(
            method: String? = nil, target: String? = nil, host: String? = nil, fields: [String: String] = [:]
        ) throws -> SignedRequest {
            let host = host ?? self.host ?? "h"
            var all: HTTPFields = ["Host": host]
            for (name, value) in headers.merging(fields, uniquingKeysWith: { $1 }) {
                all.append(name, value)
            }
            let read = try RequestTarget(target ?? self.target, host: host, domains: ["oss-cn-test.example.com"])
            return SignedRequest(method: method ?? self.method, target: read, fields: all)
        }
    }

    let accessKeyID: String
    let secret: String
    let securityToken: String
    let signedAt: Int64
    let vectors: [Vector]

    static let oss = read("oss.json")
    static let s3 = read("s3.json")

    private static func read(_ name: String) -> SignatureVectors {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/\(name)")
        do {
            return try JSONDecoder().decode(SignatureVectors.self, from: Data(contentsOf: file))
        } catch {
            fatalError("\(file.path): \(error)")
        }
    }
}
