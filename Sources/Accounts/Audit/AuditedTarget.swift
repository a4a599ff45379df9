import Basics
import Capability
import Database

/// A target of an audit line: its kind and its id.
struct AuditedTarget: Hashable, Sendable {
    /// The beginning of the target, e.g. `devices`; empty if there is no id.
    let kind: String
    let id: String

    init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }

    /// - Parameter text: e.g. `devices/260427-000001`.
    init(_ text: String) {
        let halves = text[...].halves(atFirst: "/")
        kind = halves.second == nil ? "" : String(halves.first)
        id = String(halves.second ?? halves.first)
    }

    var text: String { kind.isEmpty ? id : "\(kind)/\(id)" }
}

extension AuditEntry {
    /// The actors whose lines name objects by their keys in the object store.
    private var namesKeys: Bool { actor.hasPrefix("static_key:") }

    /// The targets: those of its ids, or the only one.
    var targets: [AuditedTarget] {
        if ids.isEmpty { return target.isEmpty ? [] : [AuditedTarget(target)] }
        let kind = namesKeys ? "" : target.contains("/") ? "objects" : target == "files" ? "objects" : target
        return ids.map { AuditedTarget(kind: kind, id: $0) }
    }
}

/// The present names of targets.
struct AuditNames: Sendable {
    private let vocabulary: AuditVocabulary
    private var names: [String: [String: TargetName]] = [:]

    /// Reads the names with a few statements for each kind of targets.
    ///
    /// - Parameter organizationID: the organization to which they belong; `nil` = any.
    init(
        _ targets: some Sequence<AuditedTarget>, _ vocabulary: AuditVocabulary, organizationID: Int64?,
        in connection: ReadConnection
    ) throws {
        self.vocabulary = vocabulary
        for (name, targets) in Dictionary(grouping: Set(targets), by: \.kind) {
            guard let kind = vocabulary.kind(named: name) else { continue }
            names[name] = try kind.find(targets.map(\.id).sorted(), organizationID: organizationID, in: connection)
        }
    }

    /// Returns `nil` if the target does not exist any more, or its kind has no names.
    func name(of target: AuditedTarget) -> TargetName? { names[target.kind]?[target.id] }

    /// Whether targets of its kind have names.
    func knows(_ target: AuditedTarget) -> Bool { vocabulary.kind(named: target.kind) != nil }

    /// Returns the name, or else the id. A long text is cut off, so that a page with many stays small.
    func text(_ target: AuditedTarget) -> String {
        let name = name(of: target)?.text ?? ""
        let text = name.isEmpty ? target.id : name
        return text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
    }

    private static let longestText = 200

    /// Returns the resource to which people go for the target; empty if it does not exist any more.
    func resource(_ target: AuditedTarget) -> String {
        guard knows(target) else { return target.kind.isEmpty ? "" : target.text }
        return name(of: target).map { $0.resource ?? target.text } ?? ""
    }
}
