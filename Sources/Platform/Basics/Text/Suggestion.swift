/// A suggestion for a misspelled word.
package enum Suggestion {
    /// Returns the nearest of `names` to `word`, as `; did you mean X?`; an empty text if none is near.
    package static func text(for word: String, among names: [String]) -> String {
        let nearest = names.map { (name: $0, distance: EditDistance.between($0, word)) }
            .min { $0.distance < $1.distance }
        // With more edits it is another word.
        guard let nearest, nearest.distance <= min(3, nearest.name.count / 2, word.count / 2) else { return "" }
        return "; did you mean \(nearest.name)?"
    }
}

/// The number of single-character edits between two words (Levenshtein distance).
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
