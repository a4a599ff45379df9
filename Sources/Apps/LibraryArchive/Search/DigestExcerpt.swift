import AppProto

/// The part of a digest around the hits of a search.
struct DigestExcerpt: Sendable {
    /// The number of characters before the first hit and after the last.
    private static let context = 10
    /// The largest number of hits; an excerpt ends after it.
    private static let hits = 200

    let content: String
    /// The hits in `content`, in UTF-16 code units.
    let ranges: [TextRange]

    /// `nil` if the text does not contain the keyword.
    init?(of text: String, containing keyword: FoldedText) {
        let folded = FoldedText(text)
        let length = keyword.units.count
        let hits = folded.positions(of: keyword, limit: Self.hits)
        guard let first = hits.first, let last = hits.last else { return nil }
        let units = text.utf16
        let firstStart = units.index(units.startIndex, offsetBy: first)
        let lastEnd = units.index(units.startIndex, offsetBy: last + length)
        let start = Self.character(at: firstStart, in: text, movedBy: -Self.context)
        let end = Self.character(at: lastEnd, in: text, movedBy: Self.context)
        content = String(text[start..<end])
        // The last characters may have further hits if there are too many.
        let offset = units.distance(from: units.startIndex, to: start)
        let count = units.distance(from: start, to: end)
        let inside = folded.positions(of: keyword, limit: Self.hits + Self.context).filter {
            $0 >= offset && $0 + length <= offset + count
        }
        ranges = inside.map { TextRange(start: Int32($0 - offset), length: Int32(length)) }
    }

    /// Returns the boundary at a number of characters from a position, or the end of the text in that direction.
    private static func character(
        at position: String.Index, in text: String, movedBy distance: Int
    ) -> String.Index {
        let isForward = distance > 0
        let index = boundary(at: position, in: text, isForward: isForward)
        return text.index(
            index, offsetBy: distance, limitedBy: isForward ? text.endIndex : text.startIndex)
            ?? (isForward ? text.endIndex : text.startIndex)
    }

    /// Returns the position itself, or if it is within a character, the end of the character if `isForward`, else its beginning.
    private static func boundary(at position: String.Index, in text: String, isForward: Bool) -> String.Index {
        guard position < text.endIndex else { return text.endIndex }
        // Both round a position within a character down to its beginning.
        let end = text.index(after: position)
        let start = text.index(before: end)
        return start == position || !isForward ? start : end
    }
}
