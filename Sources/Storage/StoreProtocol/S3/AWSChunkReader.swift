import Basics
import Glibc

/// A decoder for bodies in S3's `aws-chunked` encoding: repeated `size[;extensions] CRLF bytes CRLF`, ended by an empty chunk, then
/// fields as a trailer. It works on bytes in memory, and passes on the contents of chunks without copying. Used by one thread at a
/// time.
package final class AWSChunkReader {
    private enum State {
        /// In the line with a chunk's size.
        case size
        case bytes(left: Int64)
        /// After a chunk's bytes.
        case lineEnd
        case trailer
        case ended
    }

    /// The longest line: a size, a signature and their names, or a trailer's field.
    private static let maximumLine = 1024

    /// The checks of the body, which get a checksum in the trailer.
    private let checks: BodyChecks
    /// The trailer's field in lower case; `nil` if none was announced.
    private let trailer: String?
    /// The verifier of signatures; `nil` if chunks are not signed.
    private var signatures: ChunkSignatures?
    /// The number of bytes that are still expected.
    private var left: Int64
    /// The claimed signature of the current chunk.
    private var claimed: Substring?
    /// The signed text of the trailer.
    private var trailerLines = ""
    private var state = State.size
    private var line: [UInt8] = []

    /// - Parameter length: the total of all chunks' bytes, as declared in the request.
    init(length: Int64, trailer: String?, checks: BodyChecks, signatures: ChunkSignatures? = nil) {
        left = length
        self.signatures = signatures
        self.trailer = trailer
        self.checks = checks
    }

    /// - Throws: `incompleteBody` if the chunks differ from the declaration, `malformedTrailer`, `signatureDoesNotMatch`.
    package func read(_ piece: UnsafeRawBufferPointer, _ emit: (UnsafeRawBufferPointer) -> Void) throws(StoreError) {
        var rest = piece[...]
        while !rest.isEmpty {
            if case .bytes(let wanted) = state {
                let bytes = rest.prefix(Int(min(wanted, Int64(rest.count))))
                signatures?.update(UnsafeRawBufferPointer(rebasing: bytes))
                emit(UnsafeRawBufferPointer(rebasing: bytes))
                rest = rest[bytes.endIndex...]
                let remaining = wanted - Int64(bytes.count)
                state = remaining == 0 ? .lineEnd : .bytes(left: remaining)
            } else {
                let end = rest.firstIndex(of: UInt8(ascii: "\n"))
                let found = rest[..<(end ?? rest.endIndex)]
                guard line.count + found.count <= Self.maximumLine else { throw Self.malformed }
                line.append(contentsOf: found)
                guard let end else { return }
                rest = rest[(end + 1)...]
                guard line.popLast() == UInt8(ascii: "\r") else { throw Self.malformed }
                let text = String(decoding: line, as: UTF8.self)
                line = []
                state = try next(text)
            }
        }
    }

    /// Checks the end of the body.
    package func finish() throws(StoreError) {
        guard case .ended = state, left == 0, line.isEmpty else { throw Self.malformed }
    }

    /// Returns the state after a line.
    private func next(_ line: String) throws(StoreError) -> State {
        switch state {
        case .size:
            let digits = line.prefix { $0 != ";" }
            guard (1...16).contains(digits.utf8.count), digits.allSatisfy({ $0.isHexDigit }),
                let size = Int64(digits, radix: 16), size <= left
            else { throw Self.malformed }
            left -= size
            claimed = Self.signature(in: line.dropFirst(digits.count))
            if size > 0 { return .bytes(left: size) }
            try signatures?.endChunk(claimed)
            claimed = nil
            return .trailer
        case .lineEnd:
            guard line.isEmpty else { throw Self.malformed }
            try signatures?.endChunk(claimed)
            return .size
        case .trailer:
            if line.isEmpty {
                guard trailer == nil || checks.checksum != nil else { throw Self.malformedTrailer }
                if trailer != nil { try signatures?.endTrailer(trailerLines, claimed) }
                return .ended
            }
            try take(line)
            return .trailer
        case .bytes, .ended:
            throw Self.malformed
        }
    }

    private func take(_ line: String) throws(StoreError) {
        let halves = line.split(separator: ":", maxSplits: 1).map { String($0).trimming { $0 == " " } }
        if halves.first == "x-amz-trailer-signature", signatures != nil, trailer != nil {
            claimed = halves.last?[...]
            return
        }
        guard halves.count == 2, let trailer, halves[0].lowercased() == trailer, checks.checksum == nil,
            let checksum = Base64.decode(halves[1]), checksum.count == checks.algorithm?.byteCount
        else { throw Self.malformedTrailer }
        checks.checksum = checksum
        trailerLines = "\(trailer):\(halves[1])\n"
    }

    /// Returns the signature in a chunk's `;chunk-signature=…`.
    private static func signature(in extensions: Substring) -> Substring? {
        let name = ";chunk-signature="
        return extensions.hasPrefix(name) ? extensions.dropFirst(name.count) : nil
    }

    private static let malformed = StoreError(
        .incompleteBody, "The chunks of the body do not match x-amz-decoded-content-length.")
    private static let malformedTrailer = StoreError(
        .malformedTrailer, "The trailer after the body must be the one checksum that x-amz-trailer announces.")
}

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
