/// Parts of a long list of rows. Each is one transaction, so that other writers do not wait for all of them.
enum RowBatches {
    /// The largest number of rows of a part.
    static let rows = 500
    /// The size of the texts of a part in bytes, unless one row has more.
    static let bytes = 1 << 20

    /// - Parameter size: returns the bytes of an element.
    static func ranges<Element>(of elements: [Element], size: (Element) -> Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (start, sum) = (0, 0)
        for (index, element) in elements.enumerated() {
            let size = size(element)
            if index > start, index - start == rows || sum + size > bytes {
                ranges.append(start..<index)
                (start, sum) = (index, 0)
            }
            sum += size
        }
        if start < elements.count { ranges.append(start..<elements.count) }
        return ranges
    }
}
