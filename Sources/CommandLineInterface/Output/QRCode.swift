import CQRencode

/// A QR code (ISO/IEC 18004) of a text in byte mode, level L: a screen needs no error correction, and a terminal has few lines.
package struct QRCode {
    /// The light margin around the symbol, in modules; the standard requires four.
    private static let margin = 4

    private let width: Int
    /// The modules, row by row.
    private let isDark: [Bool]

    /// - Throws: if the text is empty or longer than 2953 bytes.
    package init(_ text: String) throws(ClientFailure) {
        let bytes = Array(text.utf8)
        guard let code = QRcode_encodeData(Int32(clamping: bytes.count), bytes, 0, QR_ECLEVEL_L) else {
            throw ClientFailure("the text has \(bytes.count) bytes, which is too long for a QR code")
        }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        isDark = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// The symbol in lines of half blocks, two rows of modules in each, black on white independent of the terminal's colours.
    package var terminalText: String {
        let columns = -Self.margin..<width + Self.margin
        return stride(from: -Self.margin, to: width + Self.margin, by: 2).map { row in
            let blocks = columns.map { column in
                switch (self[row, column], self[row + 1, column]) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[30;107m\(blocks.joined())\u{1B}[0m"
        }.joined(separator: "\n")
    }

    private subscript(row: Int, column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && isDark[row * width + column]
    }
}
