import Basics
import Catalog
import GatewayAPI
import RPC
import StoreProtocol

/// The template of an item's key at its destination: a text with placeholders for properties of its object.
struct KeyTemplate: Sendable, Hashable {
    static let variable = "{file_id}"
    static let field = "destination.key_template"
    private static let placeholders =
        "{file_id}, {id}, {name}, {stem}, {ext}, {path}, {device}, {site}, {date}, {time}, {tag:KEY}"
    private static let known: Set = ["file_id", "id", "name", "stem", "ext", "path", "device", "site", "date", "time"]

    let text: String

    /// - Parameter text: an empty text means `{file_id}`.
    init(_ text: String) {
        self.text = text.isEmpty ? Self.variable : text
    }

    /// Whether keys contain names, which several objects may have.
    var hasNames: Bool {
        let used = (try? TextTemplate(text))?.placeholders ?? []
        return !used.contains { ["file_id", "id"].contains($0) }
            && used.contains { ["name", "stem", "path"].contains($0) }
    }

    /// - Throws: INVALID_ARGUMENT if the text is no template, or has an unknown placeholder.
    func checked() throws(RPCError) -> TextTemplate {
        // Rejected before a long text is multiplied by the number of files; it would not make a valid key anyway.
        guard text.utf8.count <= 1023 else {
            throw .invalidArgument("\(Self.field) must be at most 1023 bytes")
        }
        let template: TextTemplate
        do throws(TextTemplate.Problem) {
            template = try TextTemplate(text)
        } catch {
            throw .invalidArgument("\(Self.field) \(error.predicate)")
        }
        for name in template.placeholders where !Self.known.contains(name) && !name.hasPrefix("tag:") {
            throw .invalidArgument(
                "\(Self.field) has the unknown placeholder {\(name)}: known are \(Self.placeholders)")
        }
        return template
    }

    /// Returns the keys of a job's items.
    ///
    /// - Parameter isTaken: whether another file than the given one has a key at the destination. Such a key, and one that two files of
    ///   the job have, gets the file id if the template contains names.
    /// - Throws: INVALID_ARGUMENT if a key is invalid or two are the same.
    func keys(
        of sources: [CopyKeySource], isTaken: (_ key: String, _ fileID: String) throws -> Bool = { _, _ in false }
    ) throws -> [String] {
        let template = try checked()
        var keys: [String] = []
        var seen: Set<String> = []
        for source in sources {
            var key = try Self.key(of: source, template)
            if hasNames, try seen.contains(key) || isTaken(key, source.fileID) {
                key = Self.key(key, with: source.fileID)
            }
            guard ObjectName.isPortableKey(key) else {
                throw RPCError.invalidArgument(
                    """
                    \(Self.field) makes an invalid key from \(source.fileID): a key must be 1 to 1023 bytes, must not begin with / and \
                    must not contain the segments . and .., backslashes or control characters
                    """)
            }
            guard seen.insert(key).inserted else {
                throw RPCError.invalidArgument(
                    "\(Self.field) makes the same key for two files: it must contain \(Self.variable) or {name}")
            }
            keys.append(key)
        }
        return keys
    }

    private static func key(of source: CopyKeySource, _ template: TextTemplate) throws(RPCError) -> String {
        var missing = ""
        let key = template.text { placeholder in
            // A path keeps its folders; it cannot lead out of the folder.
            if placeholder == "path" { return source.path }
            // Other values become valid names, so that they cannot lead out of the folder.
            guard let value = source.value(placeholder), let name = FileName(value) else {
                missing = placeholder
                return nil
            }
            return name.text
        }
        guard let key else { throw .invalidArgument("\(field): file \(source.fileID) has no {\(missing)}") }
        return key
    }

    /// Returns a key with the file id before the extension: `a/drive.515d1a0e.mcap`.
    private static func key(_ key: String, with fileID: String) -> String {
        let parts = Path.extended(key)
        return "\(parts.stem).\(fileID)\(parts.extension)"
    }
}

/// The properties of an object from which its key is made.
struct CopyKeySource: Sendable {
    let fileID: String
    var name: FileName?
    /// The path of a file below the folder that was uploaded.
    var relativePath: RelativePath?
    var deviceID: String?
    var siteID: Int64 = 0
    var createdAt = UnixTime(seconds: 0)
    var tags: [String: String] = [:]

    /// The path of the file in its folder; else its name. Keys have no backslashes.
    var path: String { (relativePath?.text ?? name?.text ?? fileID).replacing(bytes: ["\\": "_"]) }

    /// Returns the value of a placeholder other than `path`; `nil` = the object has none.
    func value(_ placeholder: String) -> String? {
        let tail = name.map { $0.fileExtension.utf8.count } ?? 0
        let time = CivilTime(createdAt)
        switch placeholder {
        case "file_id", "id": return fileID
        case "name": return name?.text
        case "stem": return name.map { tail > 0 ? String($0.text.dropLast(tail + 1)) : $0.text }
        case "ext": return tail > 0 ? name.map { String($0.text.suffix(tail)) } : nil
        // A site's own upload has no device.
        case "device": return deviceID ?? "site-\(siteID)"
        case "site": return "\(siteID)"
        case "date": return time.date()
        case "time": return "\(time.date(separator: ""))T\(time.clock(separator: ""))Z"
        default: return tags[String(placeholder.dropFirst(4))]
        }
    }
}

extension CopyKeySource {
    init(_ object: CatalogObject, tags: [String: String]) {
        self.init(
            fileID: object.fileID, name: object.name(tags: tags),
            relativePath: object.description.relativePath, deviceID: object.owner.deviceID, siteID: object.owner.siteID,
            createdAt: object.times.createdAt, tags: tags)
    }
}
