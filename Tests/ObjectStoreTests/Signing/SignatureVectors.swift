import Foundation
import Network
import Testing

@testable import ObjectStore

/// Requests as the Python clients sign them; `Vectors/generate.py` made them.
struct SignatureVectors: Decodable {
    struct Vector: Decodable, CustomTestStringConvertible {
        let client: String
        let version: String
        let mode: String
        let method: String
        let bucket: String
        let key: String
        let target: String
        let headers: [String: String]

        var testDescription: String { "\(client) \(version) \(mode) \(method) \(target.prefix(40))" }

        func request(target: String? = nil, fields: [String: String] = [:]) throws -> SignedRequest {
            var all = HTTPFields()
            for (name, value) in headers.merging(fields, uniquingKeysWith: { $1 }) {
                all.append(name, value)
            }
            return SignedRequest(
                method: method, target: try RequestTarget(target ?? self.target, host: "h", domains: []), fields: all)
        }
    }

    let accessKeyID: String
    let secret: String
    let securityToken: String
    let signedAt: Int64
    let vectors: [Vector]

    static let all: SignatureVectors = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/signatures.json")
        do {
            return try JSONDecoder().decode(SignatureVectors.self, from: Data(contentsOf: file))
        } catch {
            fatalError("\(file.path): \(error)")
        }
    }()
}
