/// The space that an object's tags take in the database, for quotas.
///
/// A tag has a row in `object_tags` and in its index by value, and rows in `object_prefixes` and `object_facets`, so that it takes
/// several times its length. The numbers were measured with tags whose values occur once; those of tags that many objects share take
/// less. A row longer than a quarter of a page has a page of 4 KiB of its own in each table.
enum TagCost {
    /// The largest value, in bytes, that has facets: longer ones take rows in two more tables, and nobody chooses among them.
    static let longestFacet = 256
    /// The size of key and value from which a row needs a page of its own.
    private static let pageOfItsOwn = 990

    /// Returns the cost of all tags in bytes.
    static func bytes(of tags: [String: String]) -> Int {
        tags.reduce(0) { $0 + bytes(ofTag: $1.key, $1.value) }
    }

    private static func bytes(ofTag key: String, _ value: String) -> Int {
        let size = key.utf8.count + value.utf8.count
        if !hasFacet(value) { return size < pageOfItsOwn ? 300 + 3 * size : 10_000 }
        return 150 + 8 * size
    }

    /// Whether objects are counted by the value of a tag.
    static func hasFacet(_ value: some StringProtocol) -> Bool { value.utf8.count <= longestFacet }
}
