import Foundation

/// The base64 of bytes as lines that fit into a Swift string literal.
enum Base64Text {
    static func lines(_ bytes: [UInt8], width: Int) -> [Substring] {
        let text = Data(bytes).base64EncodedString()
        return stride(from: 0, to: text.utf8.count, by: width).map { start in
            let from = text.utf8.index(text.startIndex, offsetBy: start)
            let to = text.utf8.index(from, offsetBy: width, limitedBy: text.endIndex) ?? text.endIndex
            return text[from..<to]
        }
    }
}
