import Basics

/// Takes apart a body in S3's `aws-chunked` encoding: `size[;extensions] CRLF bytes CRLF`, again and again, a chunk of no
/// bytes, then fields as a trailer. Bytes in, bytes out: what is inside of the chunks is handed on without being copied.
/// Used by one thread at a time.
package final class AWSChunkReader {
    private enum State {
        /// In the line of a chunk's size.
        case size
        case bytes(left: Int64)
        /// Behind a chunk's bytes.
        case lineEnd
        case trailer
        case ended
    }

    /// The longest line: a size, a signature and their names, or a trailer's field.
    private static let maximumLine = 1024

    /// What the body must be; a checksum in the trailer is told to it.
    private let checks: BodyChecks
    /// The trailer's field, lower case; nil where none was announced.
    private let trailer: String?
    /// Nil where the chunks are not signed.
    private var signatures: ChunkSignatures?
    /// Bytes that are still to come.
    private var left: Int64
    /// The signature that the chunk under way claims.
    private var claimed: Substring?
    /// The trailer as it is signed.
    private var trailerLines = ""
    private var state = State.size
    private var line: [UInt8] = []

    /// - Parameter length: of all chunks' bytes, as the request declared it.
    init(length: Int64, trailer: String?, checks: BodyChecks, signatures: ChunkSignatures? = nil) {
        left = length
        self.signatures = signatures
        self.trailer = trailer
        self.checks = checks
    }

    /// - Throws: `incompleteBody` where the chunks are not what was declared, `malformedTrailer`, `signatureDoesNotMatch`.
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

    /// The body has ended.
    package func finish() throws(StoreError) {
        guard case .ended = state, left == 0, line.isEmpty else { throw Self.malformed }
    }

    /// The state behind a line.
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

    /// The signature in a chunk's `;chunk-signature=…`.
    private static func signature(in extensions: Substring) -> Substring? {
        let name = ";chunk-signature="
        return extensions.hasPrefix(name) ? extensions.dropFirst(name.count) : nil
    }

    private static let malformed = StoreError(
        .incompleteBody, "The chunks of the body do not match x-amz-decoded-content-length.")
    private static let malformedTrailer = StoreError(
        .malformedTrailer, "The trailer after the body must be the one checksum that x-amz-trailer announces.")
}
