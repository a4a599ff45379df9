/// What somebody may have meant.
package enum Suggestion {
    /// The one of `names` that is nearest to `word`, as `; did you mean X?`, or nothing where none is near.
    package static func text(for word: String, among names: [String]) -> String {
        let nearest = names.map { (name: $0, distance: EditDistance.between($0, word)) }
            .min { $0.distance < $1.distance }
        // More slips than that make another word.
        guard let nearest, nearest.distance <= min(3, nearest.name.count / 2) else { return "" }
        return "; did you mean \(nearest.name)?"
    }
}
