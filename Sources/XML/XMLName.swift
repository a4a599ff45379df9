/// A name in a document, by the bytes that it is written in.
struct XMLName {
    let prefix: Range<Int>?
    let local: Range<Int>

    /// The name with its prefix.
    var whole: Range<Int> { (prefix ?? local).lowerBound..<local.upperBound }
}
