/// The comparison of texts that other parties, or an index of the database, compare by code points.
///
/// Swift's `==` holds for canonically equivalent texts, such as "K" and the Kelvin sign (U+212A). An identity provider treats them
/// as different, and may give both to different people, workloads or groups; an index finds the one and not the other.
extension String {
    /// Whether both texts have the same code points (RFC 7519, section 7.3).
    package func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
