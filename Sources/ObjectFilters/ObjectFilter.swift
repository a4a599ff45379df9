/// A filter for objects, parsed by ``FilterParser``. Its terms may compare ages, so an object can only be compared with the filter
/// that ``resolved(at:)`` returns.
package struct ObjectFilter: Sendable, Hashable {
    package typealias Expression = FilterExpression<Term>

    package let root: Expression

    package init(_ root: Expression) {
        self.root = root
    }

    /// The filter that matches every object. Computed, because the leak sanitizer does not recognize the pointer in a stored one.
    package static var everything: ObjectFilter { ObjectFilter(.all([])) }

    /// Whether the set of matches depends on the time.
    package var hasAge: Bool {
        contains { if case .age = $0 { true } else { false } }
    }

    /// The filter if its matches do not depend on the time; `nil` if it has an age.
    package var steady: ResolvedFilter? { hasAge ? nil : resolved(at: 0) }

    /// Whether a term satisfies the predicate.
    package func contains(where predicate: (Term) -> Bool) -> Bool { root.contains(where: predicate) }

    /// Returns the filter in which each age is replaced by the range of creation times that has it at a moment.
    ///
    /// - Parameter now: seconds since 1970.
    package func resolved(at now: Int64) -> ResolvedFilter {
        ResolvedFilter(
            root.map { term in
                switch term {
                case .steady(let term): term
                // An age in `lower..<upper` is a creation second in `now − upper + 1...now − lower`.
                case .age(let age):
                    .created(
                        Interval(
                            lower: age.upper.map { (now - $0 + 1) * 1_000_000 },
                            upper: age.lower.map { (now - $0 + 1) * 1_000_000 }))
                }
            })
    }
}
