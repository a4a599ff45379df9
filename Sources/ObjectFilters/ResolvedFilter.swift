/// A filter whose set of matches does not depend on the time.
package struct ResolvedFilter: Sendable, Hashable {
    package typealias Expression = FilterExpression<Term>

    package let root: Expression

    package init(_ root: Expression) {
        self.root = root
    }

    /// The filter that matches every object. Computed, because the leak sanitizer does not recognize the pointer in a stored one.
    package static var everything: ResolvedFilter { ResolvedFilter(.all([])) }

    /// The same filter, restricted to objects outside the trash unless it has a term about it.
    package var hidingTrash: ResolvedFilter {
        hasTrashed ? self : ResolvedFilter(.all([root, .term(.trashed(false))]))
    }

    /// The same filter, restricted to objects in the trash.
    package var inTrash: ResolvedFilter { ResolvedFilter(.all([root, .term(.trashed(true))])) }

    /// Whether the terms that all matches satisfy exclude objects in the trash.
    package var excludesTrash: Bool { requires(.trashed(false)) }

    /// Whether a term is one of those that all matches satisfy.
    package func requires(_ term: Term) -> Bool { Self.requires(term, root) }

    private static func requires(_ term: Term, _ expression: Expression) -> Bool {
        switch expression {
        case .term(let own): own == term
        case .all(let children): children.contains { requires(term, $0) }
        case .not, .any: false
        }
    }

    /// The same filter without the tags that every match has, for objects that are known to have them.
    package var withoutRequiredTags: ResolvedFilter { ResolvedFilter(Self.withoutRequiredTags(root)) }

    private static func withoutRequiredTags(_ expression: Expression) -> Expression {
        switch expression {
        case .term(.tag): .all([])
        case .all(let children): .all(children.map(withoutRequiredTags))
        case .term, .not, .any: expression
        }
    }

    /// Whether the filter has words, which find display names, too.
    package var hasWords: Bool {
        contains { if case .word = $0 { true } else { false } }
    }

    /// The same filter, whose words also find the objects of devices and sites.
    ///
    /// - Parameter find: returns the devices and sites whose display name has a word, which is in lower case.
    package func findingDisplayNames(
        _ find: (String) -> (devices: Set<String>, sites: Set<Int64>)
    ) -> ResolvedFilter {
        ResolvedFilter(
            root.replacing { term in
                guard case .word(let word) = term else { return .term(term) }
                let (devices, sites) = find(word)
                var terms = [Expression.term(term)]
                if !devices.isEmpty { terms.append(.term(.devices(devices))) }
                if !sites.isEmpty { terms.append(.term(.sites(sites))) }
                return terms.count == 1 ? terms[0] : .any(terms)
            })
    }

    /// The deepest folder that the terms which all matches satisfy name; `nil` = they name none.
    package var folder: String? { Self.folder(of: root) }

    private static func folder(of expression: Expression) -> String? {
        switch expression {
        case .term(.folder(let folder)): folder
        case .all(let children): children.compactMap { folder(of: $0) }.max { $0.utf8.count < $1.utf8.count }
        case .term, .not, .any: nil
        }
    }

    /// Whether the filter has a term about the recording time.
    package var hasRecorded: Bool {
        contains { if case .recorded = $0 { true } else { false } }
    }

    /// Whether the terms may compare an object's tags or topics, which are in rows of their own. Names count because those of
    /// some objects are made of tags.
    package var readsTags: Bool {
        contains { term in
            switch term {
            case .tag, .word, .begins, .name, .topic: true
            default: false
            }
        }
    }

    /// Whether a term is about the trash.
    package var hasTrashed: Bool {
        contains { if case .trashed = $0 { true } else { false } }
    }

    /// Whether a term satisfies the predicate.
    package func contains(where predicate: (Term) -> Bool) -> Bool { root.contains(where: predicate) }
}
