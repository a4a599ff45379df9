/// The comparison of texts in tokens and documents of other parties.
///
/// Swift's `==` holds for canonically equivalent texts, such as "K" and the Kelvin sign (U+212A). A provider treats them as
/// different, and may give both to different people, workloads or groups.
extension String {
    /// Whether both texts have the same code points (RFC 7519, section 7.3).
    package func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
