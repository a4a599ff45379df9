extension Collection<UInt8> {
    /// Whether the text's bytes occur in a row. Foundation's and the standard library's own searches go by characters, or
    /// through existentials, and cost a request more than its signature does.
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
