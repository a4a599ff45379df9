/// A filter for objects: an expression of terms, parsed by ``FilterParser``.
package struct ObjectFilter: Sendable, Hashable {
    package indirect enum Expression: Sendable, Hashable {
        case term(Term)
        case not(Expression)
        /// All children match; without children, every object matches.
        case all([Expression])
        /// The disjunction of its children: at least one matches.
        case any([Expression])
    }

    package let root: Expression

    package init(_ root: Expression) {
        self.root = root
    }

    /// The filter that matches every object.
    package static let everything = ObjectFilter(.all([]))

    /// The same filter, restricted to objects outside the trash unless it has a term about it.
    package var hidingTrash: ObjectFilter {
        if contains(where: { if case .trashed = $0 { true } else { false } }) { return self }
        return ObjectFilter(.all([root, .term(.trashed(false))]))
    }

    /// The same filter, restricted to objects in the trash.
    package var inTrash: ObjectFilter { ObjectFilter(.all([root, .term(.trashed(true))])) }

    /// Whether the terms that all matches satisfy exclude objects in the trash.
    package var excludesTrash: Bool {
        guard case .all(let children) = root else { return root == .term(.trashed(false)) }
        return children.contains(.term(.trashed(false)))
    }

    /// The same filter without the tags that every match has, for objects that are known to have them.
    package var withoutRequiredTags: ObjectFilter { ObjectFilter(Self.withoutRequiredTags(root)) }

    private static func withoutRequiredTags(_ expression: Expression) -> Expression {
        switch expression {
        case .term(.tag): .all([])
        case .all(let children): .all(children.map(withoutRequiredTags))
        case .term, .not, .any: expression
        }
    }

    /// Whether the terms may compare an object's tags or topics, which are in rows of their own. Names count because those of
    /// some objects are made of tags.
    package var readsTags: Bool {
        contains { term in
            switch term {
            case .tag, .word, .name, .topic: true
            default: false
            }
        }
    }

    /// Whether the set of matches depends on the time.
    package var hasAge: Bool {
        contains { if case .age = $0 { true } else { false } }
    }

    /// Whether a term satisfies the predicate.
    package func contains(where predicate: (Term) -> Bool) -> Bool {
        Self.contains(root, where: predicate)
    }

    private static func contains(_ expression: Expression, where predicate: (Term) -> Bool) -> Bool {
        switch expression {
        case .term(let term): predicate(term)
        case .not(let child): contains(child, where: predicate)
        case .all(let children), .any(let children): children.contains { contains($0, where: predicate) }
        }
    }
}
