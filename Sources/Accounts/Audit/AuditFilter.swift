import Basics
import Capability
import Database
import GatewayAPI
import Proto
import RPC

/// The lines of the audit log that a caller wants to see.
struct AuditFilter: Sendable {
    /// The largest length of a pattern in bytes, and the number of `*` in it.
    private static let (mostBytes, mostWildcards) = (256, 8)

    /// Empty = all kinds.
    let kinds: [AuditActorKind]
    /// `nil` = all.
    let actor: TextPattern?
    let action: TextPattern?
    let target: TextPattern?
    let result: TextPattern?
    /// Whether the lines of all other results are wanted.
    let excludesResult: Bool
    /// The actions of the group; `nil` = all.
    let groupActions: [String]?
    /// Later lines, and those of this time, are left out; `nil` = none.
    let until: UnixTime?

    /// Makes a filter that matches every line.
    init() {
        (kinds, until, excludesResult) = ([], nil, false)
        (actor, action, target, result, groupActions) = (nil, nil, nil, nil, nil)
    }

    /// - Throws: INVALID_ARGUMENT with the name of the field.
    init(_ request: ListAuditLinesRequest, _ vocabulary: AuditVocabulary) throws(RPCError) {
        if let unknown = request.actorKinds.first(where: { Self.prefixes(of: $0).isEmpty }) {
            throw .invalidArgument("actor_kinds must hold kinds of actors, not \(unknown.rawValue)")
        }
        kinds = Set(request.actorKinds).sorted { $0.rawValue < $1.rawValue }
        if request.actionGroup == .unspecified {
            groupActions = nil
        } else {
            guard let group = AuditSentence.Group(rawValue: request.actionGroup.rawValue) else {
                throw .invalidArgument("action_group must be one of 0 to 8, or the name of a group")
            }
            groupActions = vocabulary.actions(of: group)
        }
        actor = try Self.pattern(request.actor, field: "actor")
        action = try Self.pattern(request.action, field: "action")
        target = try Self.pattern(request.target, field: "target")
        excludesResult = request.result.hasPrefix("!")
        result = try Self.pattern(
            excludesResult ? String(request.result.dropFirst()) : request.result, field: "result")
        until = try request.until.map { time throws(RPCError) in
            guard let time = time.time else { throw .invalidArgument("until is not a valid time") }
            return time
        }
    }

    /// Whether the filter matches every line.
    var isEmpty: Bool {
        kinds.isEmpty && groupActions == nil && actor == nil && action == nil && target == nil && result == nil
            && until == nil
    }

    /// A text that differs for another filter.
    var scope: String {
        ([actor, action, target, result].map { $0?.text ?? "" }
            + kinds.map { "\($0.rawValue)" } + ["\(excludesResult)"]
            + ["\(until?.microseconds ?? .max)", groupActions?.joined(separator: " ") ?? "all"]).joined(separator: "\n")
    }

    private static func pattern(_ text: String, field: String) throws(RPCError) -> TextPattern? {
        guard !text.isEmpty else { return nil }
        try FieldRules.note(text, field: field, limit: mostBytes)
        let pattern = TextPattern(text)
        guard pattern.wildcardCount <= mostWildcards else {
            throw .invalidArgument("\(field) must have at most \(mostWildcards) asterisks")
        }
        return pattern
    }

    /// Whether the line is one of the filter, whose other conditions SQL decides.
    func matches(_ entry: AuditEntry) -> Bool {
        actor?.matches(entry.actor) ?? true && action?.matches(entry.action) ?? true
            && result.map { $0.matches(entry.result) != excludesResult } ?? true
            && (target.map { target in
                target.matches(entry.target) || target.matches(entry.targetID)
                    || entry.ids.contains(where: target.matches)
            } ?? true)
    }
}

/// The conditions in SQL.
extension AuditFilter {
    /// The kinds of actors whose lines are in the index `audit_of_people`.
    private static let kindsOfPeople: Set<AuditActorKind> = [.user, .gateway, .unknown]
    /// The beginnings of the actors that are devices or programs with a key.
    fileprivate static let prefixesOfKeys = prefixes(of: .device) + prefixes(of: .key)
    /// The conditions of that index, in the order of its definition: a search only uses it if it has them.
    private static let noKey = prefixesOfKeys.map { prefix in
        "(actor < '\(prefix)' OR actor >= '\(end(of: prefix))')"
    }

    /// The conditions on the kind of the actor.
    var kindConditions: [String] {
        guard !kinds.isEmpty else { return [] }
        let ranges = kinds.flatMap { Self.prefixes(of: $0) }.map { prefix in
            "(actor >= '\(prefix)' AND actor < '\(Self.end(of: prefix))')"
        }
        return (Self.kindsOfPeople.isSuperset(of: kinds) ? Self.noKey : []) + ["(\(ranges.joined(separator: " OR ")))"]
    }

    /// Returns the conditions on the other columns. They match all lines of ``matches(_:)``, and with SQLite those that differ in
    /// upper and lower case.
    ///
    /// - Parameter arguments: receives the arguments, whose placeholders follow those that it has.
    func conditions(_ arguments: inout [(any Bindable)?]) -> [String] {
        var conditions: [String] = []
        if let until {
            arguments.append(until.microseconds)
            conditions.append("+at < $\(arguments.count)")
        }
        if let groupActions {
            let names = groupActions.map { "'\($0)'" }.joined(separator: ", ")
            conditions.append("action IN (\(names.isEmpty ? "''" : names))")
        }
        for (column, pattern) in [("actor", actor), ("action", action), ("result", result)] {
            guard let pattern else { continue }
            arguments.append(pattern.likePattern)
            let isExcluded = column == "result" && excludesResult
            conditions.append("\(column) \(isExcluded ? "NOT " : "")LIKE $\(arguments.count) ESCAPE '\\'")
        }
        if let target {
            arguments += [target.likePattern, "%/\(target.likePattern)", "%\(target.likePattern)%"]
            let columns = ["target", "target", "ids"]
            let alternatives = columns.enumerated().map { index, column in
                "\(column) LIKE $\(arguments.count - 2 + index) ESCAPE '\\'"
            }
            conditions.append("(\(alternatives.joined(separator: " OR ")))")
        }
        return conditions
    }

    /// The beginnings of the actors of a kind; empty for an unknown kind.
    private static func prefixes(of kind: AuditActorKind) -> [String] {
        switch kind {
        case .user: ["user:"]
        case .device: ["device:"]
        case .key: ["site:", "static_key:", "certificate:"]
        case .gateway: ["gateway", "doctor"]
        case .unknown: ["nobody", "others"]
        case .unspecified, .unrecognized: []
        }
    }

    /// Returns the first text after all texts that begin with the prefix.
    private static func end(of prefix: String) -> String {
        let last = prefix.unicodeScalars.last.flatMap { Unicode.Scalar($0.value + 1) }
        return prefix.dropLast() + (last.map(String.init) ?? "")
    }
}

extension AuditEntry {
    /// The id in the target: what follows its first slash.
    var targetID: String { String(target[...].halves(atFirst: "/").second ?? "") }

    /// Whether a device or a program with a key wrote the line.
    var isOfKey: Bool { AuditFilter.prefixesOfKeys.contains(where: actor.hasPrefix) }
}
