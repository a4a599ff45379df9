import GRPCWire
import Protobuf
import ProtobufJSON

/// The bytes of the request, from the transport to the method.
extension ServerCall {
    /// The number of bytes of an uncompressed request that are decoded when they arrive.
    private static let decodedAtOnce = 4096
    /// The number of bytes that are decoded before other work may be next: they may be many messages, each of which may be inflated.
    private static let decodedInOnePiece = 16 * 1024
    /// The number of bytes that wait to be decoded from which the client has to wait.
    private static let mostUndecoded = 64 * 1024

    /// Receives bytes of the request's body.
    package func receive(_ data: UnsafeRawBufferPointer) {
        assertCurrent()
        guard isOpen else { return }
        usage.traffic.bytesReceived += data.count
        guard isDecodedInTurn else { return decode(data) }
        intake.append(data)
        if intake.count > Self.mostUndecoded { holdsRequest = true }
        countHeld()
        decodeSoon()
    }

    /// Whether received bytes are decoded in the call's turn: a few bytes may be decompressed to a large message, and a large message
    /// takes long. Others would wait for it, and the caller may be unknown.
    private var isDecodedInTurn: Bool {
        coding.encoding != nil || usage.traffic.bytesReceived > Self.decodedAtOnce || intake.count > 0
    }

    private func decodeSoon() {
        guard stage.isAdmitted, !intake.isScheduled, let lane else { return }
        intake.isScheduled = true
        lane.perform { [self] in
            intake.isScheduled = false
            decodeReceived()
        }
    }

    /// Decodes the next received bytes, in the call's turn; the rest in later ones.
    func decodeReceived() {
        if isOpen, let (bytes, range) = intake.next(Self.decodedInOnePiece) {
            bytes.withUnsafeBytes { decode(UnsafeRawBufferPointer(rebasing: $0[range])) }
            guard isOpen else { return }
            guard intake.taken() else { return decodeSoon() }
            holdsRequest = isBehind
        }
        if intake.takeEnd() { decodeEnd() }
    }

    private func decode(_ data: UnsafeRawBufferPointer) {
        intake.isDecoding = true
        do throws(RPCError) {
            try request.receive(data) { deliver($0, isCompressed: $1) }
        } catch {
            fail(error)
        }
        intake.isDecoding = false
        if isOpen { countHeld() } else { dropRequest() }
    }

    /// Handles the end of the request.
    package func receiveEnd() {
        assertCurrent()
        // A whole body is decoded at its end.
        let waits = isOpen && isDecodedInTurn
        intake.receiveEnd(waits: waits)
        if waits { decodeSoon() } else { decodeEnd() }
    }

    private func decodeEnd() {
        guard isOpen else { return }
        intake.isDecoding = true
        do throws(RPCError) {
            try request.receiveEnd { deliver($0, isCompressed: $1) }
        } catch {
            fail(error)
        }
        intake.isDecoding = false
        if isOpen { receivedAll() } else { dropRequest() }
    }

    /// Discards the parts of the request that an ended call still holds: its stream may stay open.
    func dropRequest() {
        guard !intake.isDecoding else { return }
        request = .framed(FramedDecoder(limit: 0))
        intake.drop()
        dropMessages()
    }

    private func deliver(_ message: UnsafeRawBufferPointer, isCompressed: Bool) {
        guard isOpen else { return }
        usage.traffic.messagesReceived += 1
        do throws(RPCError) {
            try coding.decode(message, isCompressed: isCompressed) { (decoded) throws(RPCError) in
                try received(decoded, wasCompressed: isCompressed)
            }
        } catch {
            fail(error)
        }
    }

    /// Makes the error for a message that cannot be decoded.
    ///
    /// U+0000 is refused in all texts of requests, which protobuf permits: PostgreSQL has no text with it, and functions of SQLite take
    /// it for the end of one.
    func invalid(_ message: UnsafeRawBufferPointer, _ fullName: String, _ error: DecodingError) -> RPCError {
        guard error == .nullCharacter else {
            return .invalidRequest("the request is not a valid \(fullName): \(error)")
        }
        let path = server.json?.schema.fieldWithNullCharacter(in: message, of: fullName) ?? []
        let name = path.isEmpty ? "a string field" : path.map(\.name).joined(separator: ".")
        return .invalidRequest("\(name) must not contain the character U+0000", field: path.last?.jsonName)
    }

    /// Counts the bytes that the call holds. One client could hold as many incomplete or decompressed messages as it has streams,
    /// so the sum over a listener is limited. Small sizes are not counted.
    private func countHeld() {
        let held = request.heldBytes + heldMessageBytes + intake.count
        let change = (held > 4096 ? held : 0) - usage.countedBytes
        guard change != 0 else { return }
        usage.countedBytes += change
        let limits = server.limits
        let listenerHasSpace = server.metrics.requestBytesChanged(by: change, limit: limits.maxRequestBytes)
        let addressHasSpace = address.requestBytes.add(change, limit: limits.maxRequestBytesPerAddress)
        guard change > 0, !listenerHasSpace || !addressHasSpace else { return }
        server.metrics.limitReached(listenerHasSpace ? "request_bytes_per_address" : "request_bytes")
        fail(RPCError.overloaded("the calls in progress hold too many bytes of requests"))
    }

    /// Ends the call if a message arrives more slowly than clients must send.
    package func checkRate(at now: UInt64) {
        assertCurrent()
        guard isOpen, !intake.hasEnded, !holdsRequest, request.heldBytes > 0 else { return usage.arrival.pause() }
        let limits = server.limits.lifecycle
        guard usage.arrival.isTooSlow(usage.traffic.bytesReceived, at: now, limits) else { return }
        server.metrics.limitReached("slow_request")
        fail(RPCError.overloaded("the request arrives more slowly than \(limits.minimumRate) bytes a second"))
    }
}
