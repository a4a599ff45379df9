/// Terms that are combined with NOT, AND and OR.
package indirect enum FilterExpression<Term: Sendable & Hashable>: Sendable, Hashable {
    case term(Term)
    case not(FilterExpression)
    /// All children match; without children, every object matches.
    case all([FilterExpression])
    /// The disjunction of its children: at least one matches.
    case any([FilterExpression])

    /// Whether a term satisfies the predicate.
    package func contains(where predicate: (Term) -> Bool) -> Bool {
        switch self {
        case .term(let term): predicate(term)
        case .not(let child): child.contains(where: predicate)
        case .all(let children), .any(let children): children.contains { $0.contains(where: predicate) }
        }
    }

    /// Returns the same expression with another expression for each term.
    func replacing(
        _ transform: (Term) throws -> FilterExpression
    ) rethrows -> FilterExpression {
        switch self {
        case .term(let term): try transform(term)
        case .not(let child): .not(try child.replacing(transform))
        case .all(let children): .all(try children.map { try $0.replacing(transform) })
        case .any(let children): .any(try children.map { try $0.replacing(transform) })
        }
    }

    /// Returns the same expression with other terms.
    func map<Other>(_ transform: (Term) -> Other) -> FilterExpression<Other> {
        switch self {
        case .term(let term): .term(transform(term))
        case .not(let child): .not(child.map(transform))
        case .all(let children): .all(children.map { $0.map(transform) })
        case .any(let children): .any(children.map { $0.map(transform) })
        }
    }
}
