/// A name in a document, as ranges of its bytes.
struct XMLName {
    let prefix: Range<Int>?
    let local: Range<Int>

    /// The name with its prefix.
    var whole: Range<Int> { (prefix ?? local).lowerBound..<local.upperBound }
}
