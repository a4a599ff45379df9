extension Collection<UInt8> {
    /// Whether the collection contains the text's bytes in a row. The searches of Foundation and the standard library work on
    /// characters, or through existentials, and cost more than the signature of a request.
    func contains(bytes text: String) -> Bool {
        let isContained = withContiguousStorageIfAvailable { bytes in
            var text = text
            return text.withUTF8 { text in
                guard let first = text.first, bytes.count >= text.count else { return text.isEmpty }
                return (0...bytes.count - text.count).contains {
                    bytes[$0] == first && bytes[$0..<$0 + text.count].elementsEqual(text)
                }
            }
        }
        return isContained ?? Array(self).contains(bytes: text)
    }
}
