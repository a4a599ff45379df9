package import Basics
import Crypto
import HTTPClient
import HTTPTypes
import StoreProtocol
import XML

/// An object in a list.
package struct S3Listed: Sendable, Equatable {
    package let key: String
    package let size: Int64
    package let etag: String
    package let modifiedAt: UnixTime?
}

/// A page of the response to ListObjectsV2.
package struct S3Page: Sendable, Equatable {
    package let objects: [S3Listed]
    /// The beginnings of keys up to the delimiter.
    package let prefixes: [String]
    /// The token of the next page; `nil` = this is the last one.
    package let next: String?

    /// The largest page in bytes: 1,000 objects with long keys.
    private static let maximumBytes = 4 << 20

    init(_ reply: HTTPReply) throws {
        guard let document = S3Client.document(reply, maximumBytes: Self.maximumBytes),
            document.name == "ListBucketResult"
        else { throw StoreClient.misunderstood("ListBucketResult") }
        let isEncoded = document["EncodingType"] == "url"
        func decoded(_ text: String) throws -> String {
            guard isEncoded else { return text }
            guard let key = URLEncoding.decode(query: text[...]) else { throw StoreClient.misunderstood("Key") }
            return key
        }
        objects = try document.children.filter { $0.name == "Contents" }.map { element in
            guard let key = element["Key"], let size = element["Size"].flatMap({ Int64($0) }), size >= 0 else {
                throw StoreClient.misunderstood("Key")
            }
            return S3Listed(
                key: try decoded(key), size: size, etag: element["ETag"] ?? "",
                modifiedAt: element["LastModified"].flatMap { RFC3339.parse($0)?.time })
        }
        prefixes = try document.children.filter { $0.name == "CommonPrefixes" }.compactMap { $0["Prefix"] }.map(decoded)
        guard document["IsTruncated"] == "true" else {
            next = nil
            return
        }
        guard let token = document["NextContinuationToken"], !token.isEmpty,
            token.utf8.count <= 4 * StoreClient.maximumTokenBytes
        else { throw StoreClient.misunderstood("NextContinuationToken") }
        next = token
    }
}

/// An object that was not removed.
package struct S3DeletionFailure: Sendable, Equatable {
    package let key: String
    package let code: String
    package let message: String
}

extension S3Client {
    /// The most keys of ``delete(_:)-([String])``.
    package static let maximumDeletions = 1000

    /// Returns a page of the bucket's objects, in the order of their keys.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the keys.
    ///   - delimiter: ends the part of a key behind the prefix that is listed; `nil` = whole keys.
    ///   - token: of the previous page; `nil` = the first page.
    ///   - limit: 1 to 1,000.
    package func list(
        _ prefix: String, delimiter: String? = nil, after token: String? = nil, limit: Int = 1000
    ) async throws -> S3Page {
        var query = [("list-type", "2"), ("prefix", prefix), ("max-keys", String(limit)), ("encoding-type", "url")]
        if let delimiter { query.append(("delimiter", delimiter)) }
        if let token { query.append(("continuation-token", token)) }
        let page = try S3Page(try await send(S3Operation("GET", nil, query: query)))
        guard page.next == nil || page.next != token else { throw StoreClient.misunderstood("NextContinuationToken") }
        return page
    }

    /// Removes objects; those that do not exist count as removed.
    ///
    /// - Parameter keys: at most ``maximumDeletions``.
    /// - Returns: those that the store did not remove.
    package func delete(_ keys: [String]) async throws -> [S3DeletionFailure] {
        guard !keys.isEmpty else { return [] }
        precondition(keys.count <= Self.maximumDeletions, "a request removes at most 1,000 objects")
        let list = keys.map { "<Object><Key>\(FlatXML.escape($0))</Key></Object>" }.joined()
        let body = Array(
            "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>\(list)</Delete>".utf8)
        let fields: HTTPFields = ["Content-MD5": Base64.encode(Digest.md5(body)), "Content-Type": "application/xml"]
        let reply = try await send(
            S3Operation("POST", nil, query: [("delete", "")], fields: fields), body: .bytes(body))
        guard let document = Self.document(reply, maximumBytes: 4 << 20) else {
            throw StoreClient.misunderstood("DeleteResult")
        }
        guard document.name == "DeleteResult" else { throw StoreRefusal(reply) }
        return document.children.filter { $0.name == "Error" && $0["Code"] != "NoSuchKey" }.map {
            S3DeletionFailure(key: $0["Key"] ?? "", code: $0["Code"] ?? "", message: $0["Message"] ?? "")
        }
    }
}
