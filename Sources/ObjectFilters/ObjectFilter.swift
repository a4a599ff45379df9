package import TimeZones

/// A filter for objects, parsed by ``FilterParser``. Its terms may compare ages and days, so an object can only be compared with the
/// filter that ``resolved(at:in:)`` returns.
package struct ObjectFilter: Sendable, Hashable {
    package typealias Expression = FilterExpression<Term>

    package let root: Expression

    package init(_ root: Expression) {
        self.root = root
    }

    /// The filter that matches every object. Computed, because the leak sanitizer does not recognize the pointer in a stored one.
    package static var everything: ObjectFilter { ObjectFilter(.all([])) }

    /// Whether the set of matches depends on the time.
    package var dependsOnTime: Bool {
        contains { term in
            switch term {
            case .age, .days(_, _, .relative): true
            case .steady, .days(_, _, .date): false
            }
        }
    }

    /// The filter if its matches do not depend on the time; `nil` if it has an age. Its days are those of UTC.
    package var steady: ResolvedFilter? { dependsOnTime ? nil : resolved(at: 0) }

    /// Whether a term satisfies the predicate.
    package func contains(where predicate: (Term) -> Bool) -> Bool { root.contains(where: predicate) }

    /// Returns the filter in which each age is replaced by the range of creation times that has it at a moment, and days by their times.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - zone: the zone of the days.
    package func resolved(at now: Int64, in zone: TimeZoneRules = .utc) -> ResolvedFilter {
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
                case .days(let field, let comparison, let days):
                    field.term(
                        { comparison.interval(first: $0.first, next: $0.next) }(days.interval(at: now, in: zone)))
                }
            })
    }
}
