package import Basics
import Crypto
import HTTPClient
import HTTPTypes
import StoreProtocol
import XML

/// A small object that was read whole.
package struct S3Content: Sendable, Equatable {
    package let bytes: [UInt8]
    package let etag: String
    package let modifiedAt: UnixTime?
    /// The store's time when it answered.
    package let answeredAt: UnixTime?
}

/// The response to the storing of an object.
package struct S3Stored: Sendable, Equatable {
    package let etag: String
    /// The store's time when it answered.
    package let answeredAt: UnixTime?
}

/// The versioning of a bucket.
package enum S3Versioning: Sendable, Equatable {
    case off
    case enabled
    case suspended
}

/// A rule by which a store removes or moves objects on its own.
package struct S3LifecycleRule: Sendable, Equatable {
    package let id: String
    package let isEnabled: Bool
    /// The beginning of the keys to which it applies; empty = all.
    package let prefix: String
    /// Whether it applies only to objects with certain tags.
    package let hasTags: Bool
    /// The names of its actions, such as `Expiration`. An `Expiration` that removes only delete markers has the name
    /// `ExpiredObjectDeleteMarker`.
    package let actions: [String]

    private static let properties: Set = ["ID", "Status", "Prefix", "Filter"]

    init(_ rule: XMLElement) {
        id = rule["ID"] ?? ""
        isEnabled = rule["Status"] != "Disabled"
        let filter = rule.children.first { $0.name == "Filter" }
        let both = filter?.children.first { $0.name == "And" }
        prefix = rule["Prefix"] ?? filter?["Prefix"] ?? both?["Prefix"] ?? ""
        hasTags = [filter, both].contains { $0?.children.contains { $0.name == "Tag" } == true }
        actions = rule.children.filter { !Self.properties.contains($0.name) }.map { action in
            let onlyMarkers =
                action.name == "Expiration" && action.children.map(\.name) == ["ExpiredObjectDeleteMarker"]
            return onlyMarkers ? "ExpiredObjectDeleteMarker" : action.name
        }
    }
}

/// The protection of a bucket's objects against removal.
package struct S3ObjectLock: Sendable, Equatable {
    package let isEnabled: Bool
    /// Whether each new object is protected for some time.
    package let hasRule: Bool
}

extension S3Client {
    /// The largest document of a bucket's property in bytes: 1,000 rules.
    private static let maximumPropertyBytes = 1 << 20

    // MARK: Small objects

    /// Stores an object like ``put(_:_:_:)``, and returns the store's time as well.
    package func store(
        _ key: String, _ bytes: [UInt8], _ properties: S3Properties = S3Properties()
    ) async throws -> S3Stored {
        var properties = properties
        properties.md5 = properties.md5 ?? Digest.md5(bytes)
        let reply = try await send(S3Operation("PUT", key, fields: properties.fields), body: .bytes(bytes))
        return S3Stored(etag: try Self.etag(of: reply), answeredAt: Self.time(of: reply))
    }

    /// Reads a small object; `nil` if the key has none.
    ///
    /// - Parameter limit: the largest object in bytes.
    package func contents(_ key: String, limit: Int) async throws -> S3Content? {
        do {
            let reply = try await send(S3Operation("GET", key))
            guard reply.body.count <= limit else {
                throw TransferFailure.unusable("\(bucket.name)/\(key) is larger than \(limit) bytes")
            }
            return S3Content(
                bytes: reply.body, etag: try Self.etag(of: reply),
                modifiedAt: reply.fields["last-modified"].flatMap { Timestamps.parseHTTP($0) },
                answeredAt: Self.time(of: reply))
        } catch let refusal as StoreRefusal where refusal.kind == .notFound && refusal.code != "NoSuchBucket" {
            return nil
        }
    }

    /// Removes an object if it has the ETag. Stores that do not know the condition remove it in any case, or refuse the request.
    package func delete(_ key: String, ifMatch etag: String) async throws {
        _ = try await send(S3Operation("DELETE", key, fields: ["If-Match": etag]))
    }

    private static func time(of reply: HTTPReply) -> UnixTime? {
        reply.fields["date"].flatMap { Timestamps.parseHTTP($0) }
    }

    // MARK: Properties of the bucket

    /// Returns the bucket's versioning; `nil` if the store does not know the property.
    package func versioning() async throws -> S3Versioning? {
        guard let document = try await property("versioning", absent: []) else { return nil }
        guard document.name == "VersioningConfiguration" else {
            throw StoreClient.misunderstood("VersioningConfiguration")
        }
        return switch document["Status"]?.lowercased() {
        case "enabled": .enabled
        case "suspended": .suspended
        default: .off
        }
    }

    /// Returns the rules by which the store removes objects; `nil` if the store does not know the property.
    package func lifecycleRules() async throws -> [S3LifecycleRule]? {
        let none = XMLElement(name: "LifecycleConfiguration")
        guard let document = try await property("lifecycle", absent: ["NoSuchLifecycleConfiguration"], none) else {
            return nil
        }
        guard document.name == "LifecycleConfiguration" else {
            throw StoreClient.misunderstood("LifecycleConfiguration")
        }
        return document.children.filter { $0.name == "Rule" }.map(S3LifecycleRule.init)
    }

    /// Returns the protection of objects; `nil` if the store does not know the property.
    package func objectLock() async throws -> S3ObjectLock? {
        let none = XMLElement(name: "ObjectLockConfiguration")
        let codes = ["ObjectLockConfigurationNotFoundError", "NoSuchObjectLockConfiguration"]
        guard let document = try await property("object-lock", absent: codes, none) else { return nil }
        guard document.name == "ObjectLockConfiguration" else {
            throw StoreClient.misunderstood("ObjectLockConfiguration")
        }
        return S3ObjectLock(
            isEnabled: document["ObjectLockEnabled"]?.lowercased() == "enabled",
            hasRule: document.children.contains { $0.name == "Rule" })
    }

    /// Returns the document of a property; `nil` if the store does not know the property.
    ///
    /// - Parameters:
    ///   - codes: of the errors that mean that the bucket does not have it.
    ///   - none: the document for those.
    private func property(
        _ name: String, absent codes: [String], _ none: XMLElement? = nil
    ) async throws -> XMLElement? {
        do {
            let reply = try await send(S3Operation("GET", nil, query: [(name, "")]))
            guard let document = Self.document(reply, maximumBytes: Self.maximumPropertyBytes) else {
                throw StoreClient.misunderstood("property \(name) of the bucket")
            }
            return document
        } catch let refusal as StoreRefusal {
            if codes.contains(refusal.code) { return none }
            let isUnknown =
                [404, 405, 501].contains(refusal.status)
                || ["NotImplemented", "MethodNotAllowed"].contains(refusal.code)
            guard isUnknown, refusal.code != "NoSuchBucket" else { throw refusal }
            return nil
        }
    }
}
