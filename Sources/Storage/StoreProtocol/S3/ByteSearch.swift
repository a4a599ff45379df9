import Glibc

extension String {
    /// Whether the bytes of a text that is not empty occur in this one in a row. The searches of Foundation and the standard
    /// library work on characters, or through existentials, and cost more than the signature of a request.
    func contains(bytes text: String) -> Bool {
        var (whole, part) = (self, text)
        return whole.withUTF8 { whole in
            part.withUTF8 { part in
                guard let bytes = whole.baseAddress, let searched = part.baseAddress else { return false }
                // No loop over a range: it allocates for each number in a debug build.
                var start = 0
                while start + part.count <= whole.count {
                    if memcmp(bytes + start, searched, part.count) == 0 { return true }
                    start += 1
                }
                return false
            }
        }
    }
}
