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

/// How many single-character edits lie between two words (Levenshtein): for suggesting what was meant.
private enum EditDistance {
    static func between(_ left: String, _ right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let substituted = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
