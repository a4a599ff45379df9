import Basics
import Capability
import Database
import Proto

/// Describes audit lines in sentences, with the present names of what they concern.
struct AuditWords {
    private let vocabulary: AuditVocabulary
    private let names: AuditNames

    /// - Parameter organizationID: the organization whose targets have names; `nil` = all.
    init(
        for records: [AuditRecord], _ vocabulary: AuditVocabulary, organizationID: Int64?, in connection: ReadConnection
    ) throws {
        self.vocabulary = vocabulary
        // Of several targets a sentence has the number.
        let targets = records.lazy.flatMap { record in
            [AuditedTarget(record.entry.target)] + (record.entry.ids.count == 1 ? record.entry.targets : [])
                + AuditActor(record.entry.actor).targets
        }
        names = try AuditNames(targets, vocabulary, organizationID: organizationID, in: connection)
    }

    func sentence(of record: AuditRecord) -> [AuditText] {
        let entry = record.entry
        var parts = actor(of: entry)
        if entry.result != "OK" && entry.actor != "gateway" {
            parts.append(AuditText(text: " tried to \(Self.words(of: entry.action))"))
            if !entry.target.isEmpty { parts += [AuditText(text: ": "), part(AuditedTarget(entry.target))] }
            parts.append(AuditText(text: ", and was refused\(Self.times(entry.count))"))
            return parts
        }
        parts.append(AuditText(text: " "))
        if let sentence = vocabulary.sentence(for: entry.action) {
            parts += self.parts(of: sentence, for: record)
        } else {
            parts.append(AuditText(text: "did \(Self.words(of: entry.action))"))
            if !entry.target.isEmpty { parts += [AuditText(text: ": "), part(AuditedTarget(entry.target))] }
            if entry.ids.isEmpty { parts.append(AuditText(text: Self.times(entry.count))) }
        }
        if entry.result != "OK" { parts.append(AuditText(text: ", which failed")) }
        return parts.filter { !$0.text.isEmpty }
    }

    private func parts(of sentence: AuditSentence, for record: AuditRecord) -> [AuditText] {
        let entry = record.entry
        let isSeveral = record.lines > 1 || (entry.ids.isEmpty && entry.count > 1)
        let template = isSeveral ? sentence.several ?? sentence.text : sentence.text
        var parts: [AuditText] = []
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            parts.append(AuditText(text: String(rest[..<open])))
            switch rest[rest.index(after: open)..<close] {
            case "target": if !entry.target.isEmpty { parts.append(part(AuditedTarget(entry.target))) }
            case "targets": parts += targets(of: entry)
            default: parts.append(AuditText(text: "\(entry.count)", resource: record.lines > 1 ? Self.lines : ""))
            }
            rest = rest[rest.index(after: close)...]
        }
        parts.append(AuditText(text: String(rest)))
        if record.lines > 1 && sentence.several == nil {
            parts.append(AuditText(text: " and \(record.lines - 1) more", resource: Self.lines))
        } else if isSeveral && !template.contains("{count}") {
            parts.append(AuditText(text: Self.times(entry.count)))
        }
        return parts
    }

    /// The resource of a text that stands for all targets of the line.
    private static let targets = "targets"
    /// The resource of a text that stands for all combined lines.
    private static let lines = "lines"

    private func targets(of entry: AuditEntry) -> [AuditText] {
        let targets = entry.targets
        if targets.count > 1 {
            let noun = vocabulary.kind(named: targets[0].kind)?.nouns.many ?? "objects"
            return [AuditText(text: "\(targets.count) \(noun)", resource: Self.targets)]
        }
        guard let target = targets.first else { return [AuditText(text: "objects")] }
        if target.kind.isEmpty, let kind = vocabulary.kind(named: target.id) {
            return [AuditText(text: kind.nouns.many)]
        }
        guard let kind = vocabulary.kind(named: target.kind) else {
            // Of a sweep, the line of an earlier version has the number of objects, and not their ids.
            return [entry.count > 1 ? AuditText(text: "\(entry.count) objects") : part(target)]
        }
        return [AuditText(text: "the \(kind.nouns.one) "), part(target)]
    }

    private func part(_ target: AuditedTarget) -> AuditText {
        AuditText(text: names.text(target), resource: names.resource(target))
    }

    private func actor(of entry: AuditEntry) -> [AuditText] {
        switch AuditActor(entry.actor) {
        case .user(let organization, let name, let token):
            var parts = [AuditText(text: name, resource: "users/\(name)")]
            if let own = entry.organization?.name, own != organization {
                parts.append(AuditText(text: " of \(organization)"))
            }
            if let token { parts.append(AuditText(text: " by the API token \(names.text(token))")) }
            return parts
        case .device(let target): return [part(target)]
        case .site(let target): return [AuditText(text: "A program at the site "), part(target)]
        case .other(let text): return [AuditText(text: text)]
        }
    }

    /// Returns the words of a method's name: `DeleteObject` → `delete object`.
    private static func words(of action: String) -> String {
        action.reduce(into: "") { words, character in
            if character.isUppercase, !words.isEmpty { words.append(" ") }
            words += character.lowercased()
        }
    }

    private static func times(_ count: Int) -> String { count > 1 ? " (\(count) times)" : "" }
}

/// The actor of an audit line.
enum AuditActor {
    case user(organization: String, name: String, token: AuditedTarget?)
    case device(AuditedTarget)
    case site(AuditedTarget)
    /// An actor without a name of its own, in words.
    case other(String)

    /// - Parameter text: e.g. `user:system/admin`, `device:260427-000001`.
    init(_ text: String) {
        let halves = text[...].halves(atFirst: ":")
        let rest = String(halves.second ?? "")
        switch halves.first {
        case "user":
            let (organization, name) = rest[...].halves(atFirst: "/")
            let (user, token) = (name ?? organization).halves(atFirst: "#")
            self = .user(
                organization: String(organization), name: String(user),
                token: token.map { AuditedTarget(kind: "apiTokens", id: String($0)) })
        case "device": self = .device(AuditedTarget(kind: "devices", id: rest))
        case "site": self = .site(AuditedTarget(kind: "sites", id: rest))
        case "static_key": self = .other("The static key \(rest)")
        case "certificate": self = .other("The program \(rest)")
        case "provider": self = .other("The identity provider \(rest)")
        case "gateway": self = .other("The gateway")
        case "doctor": self = .other("The command doctor")
        case "nobody": self = .other("An unknown caller")
        case "others": self = .other("Other callers")
        default: self = .other(text)
        }
    }

    /// The targets in the actor that have names.
    var targets: [AuditedTarget] {
        switch self {
        case .user(_, _, let token): token.map { [$0] } ?? []
        case .device(let target), .site(let target): [target]
        case .other: []
        }
    }
}
