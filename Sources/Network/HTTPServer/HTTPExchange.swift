import CMicrohttpd
import Glibc
import HTTPTypes

/// One request and its response, from the request line to the last byte sent. Used by its connection's thread only.
final class HTTPExchange {
    private enum Phase {
        case head
        case receiving(any HTTPBodySink)
        /// The response is known and waits until the client has sent its body, up to a number of bytes, and as long as other bodies
        /// may take: closing a socket with unread bytes resets the connection, and the client would never see the response.
        case draining(HTTPResponse, left: Int64, since: ContinuousClock.Instant)
        case answered
    }

    private let target: String
    /// The library's own copy of the target.
    private let targetStart: UnsafePointer<CChar>
    private let targetLength: Int
    private let daemon: HTTPDaemon
    private var phase = Phase.head
    private var isHead = false
    private var began = ContinuousClock.now
    private var record: HTTPRequestRecord?
    private let place: RequestPlace

    /// - Parameter target: the request target, which stays at its address as long as the header section.
    init(target: UnsafePointer<CChar>, daemon: HTTPDaemon) {
        self.target = String(cString: target)
        targetStart = target
        targetLength = strlen(target)
        self.daemon = daemon
        place = RequestPlace(in: daemon.places)
    }

    /// Processes an event of the request: libmicrohttpd calls this once for the header, then for each piece of the body, and once
    /// more at the end of the body (with an empty `piece`). `MHD_NO` closes the connection.
    func advance(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>,
        piece: UnsafeRawBufferPointer
    ) -> MHD_Result {
        let progress = DaemonConnection.of(connection)
        record?.bytesReceived += Int64(piece.count)
        // The header section was arriving until now.
        if case .head = phase { progress?.enter(.busy, isNew: true) } else { progress?.enter(.busy) }
        defer {
            if case .answered = phase {
                progress?.enter(.moving, isNew: true)
            } else {
                progress?.enter(.moving)
            }
        }
        switch phase {
        case .head:
            return begin(connection, method: method, version: version)
        case .receiving(let sink):
            guard piece.isEmpty else {
                guard isInTime(since: began) || sink.isBulk else { return .NO }
                sink.receive(piece)
                if sink.isAnswered {
                    phase = .draining(sink.finish(), left: daemon.configuration.maximumDrain, since: .now)
                }
                return .YES
            }
            phase = .answered
            return send(sink.finish(), on: connection)
        case .draining(let response, let left, let since):
            guard piece.isEmpty else {
                guard isInTime(since: since) else { return .NO }
                phase = .draining(response, left: left - Int64(piece.count), since: since)
                return Int64(piece.count) <= left ? .YES : .NO
            }
            phase = .answered
            return send(response, on: connection)
        case .answered:
            return .NO
        }
    }

    /// Handles the end of the response or of the connection.
    ///
    /// - Parameter isWhole: whether the complete response was sent.
    func ended(isWhole: Bool) {
        if case .receiving(let sink) = phase {
            sink.abandon()
        }
        phase = .answered
        place.leave()
        guard var record = record.take() else { return }
        record.duration = .now - began
        record.isWhole = isWhole
        for observer in daemon.configuration.observers { observer.ended(record) }
    }

    private func begin(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
    ) -> MHD_Result {
        let line = HTTPHeaderSection.RequestLine(
            method: method, target: targetStart, targetLength: targetLength, version: version)
        let section = HTTPHeaderSection(of: connection, line)
        let (method, version) = (String(cString: method), String(cString: version))
        var fields = section.fields
        isHead = method == "HEAD"
        began = .now
        let framing = Result { () throws(RequestValidator.Refusal) in
            guard section.isExact else { throw .notAsSent }
            return try daemon.configuration.validator.admit(target: target, fields: fields, version: version)
        }
        // An origin server takes the host of such a target, whatever the Host field says.
        let absolute = target.utf8.first == UInt8(ascii: "/") ? nil : AbsoluteTarget(target)
        if let absolute { fields.replace("host", with: absolute.authority) }
        let head = HTTPRequestHead(
            method: method, target: absolute?.origin ?? target, fields: fields, framing: (try? framing.get()) ?? .none,
            origin: HTTPRequestOrigin(
                peer: DaemonConnection.of(connection)?.host ?? "", isSecure: daemon.isSecure,
                socket: microhttpd_socket(connection)))
        record = HTTPRequestRecord(head)
        if case .failure = framing {
            phase = .answered
            var response = HTTPResponse(status: 400)
            response.closes = true
            return send(response, on: connection)
        }
        guard enter(head, from: DaemonConnection.of(connection)) else {
            phase = .answered
            return send(.stopping, on: connection)
        }
        switch daemon.handler.begin(head) {
        case .receive(let sink):
            phase = .receiving(sink)
            return .YES
        case .respond(let response):
            guard let left = bytesToDrain(head) else {
                phase = .answered
                return send(response, on: connection)
            }
            phase = .draining(response, left: left, since: began)
            return .YES
        }
    }

    /// Waits until the server may work on the request.
    ///
    /// - Returns: `false` if the server stops.
    private func enter(_ head: HTTPRequestHead, from progress: DaemonConnection?) -> Bool {
        head.notes.onOwner = { [place] in _ = place.enter($0) }
        guard let party = progress?.party else { return !daemon.isStopping }
        return place.enter(party)
    }

    /// Whether a body is still within its time limit, which prevents that a client holds the thread forever by sending byte by byte.
    private func isInTime(since start: ContinuousClock.Instant) -> Bool {
        guard let limit = daemon.configuration.bodyTimeout else { return true }
        return ContinuousClock.now - start <= limit
    }

    /// Returns the number of body bytes to read before a response; `nil` if the response must be sent at once, after which the
    /// library closes the connection: the client waits for a response before it sends the body, or the body is too long to be read
    /// for the sake of the response.
    private func bytesToDrain(_ head: HTTPRequestHead) -> Int64? {
        let limit = daemon.configuration.maximumDrain
        return switch head.framing {
        case .none: 0
        case _ where head.expectsContinue: nil
        case .length(let length): length <= limit ? length : nil
        case .chunked: limit
        }
    }

    private func send(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        let isDirect = !isHead && !daemon.isSecure && response.body.hasFiles
        guard let progress = DaemonConnection.of(connection),
            let native = response.native(
                omittingBody: isHead, isSecure: daemon.isSecure, connection: progress, isDirect: isDirect)
        else { return .NO }
        defer { MHD_destroy_response(native) }
        record?.status = response.status
        record?.bytesSent = isHead ? 0 : response.bodyLength
        if let requestID = record?.requestID, response.fields["x-request-id"] == nil {
            MHD_add_response_header(native, "X-Request-Id", requestID)
        }
        // Other parts of the server than calls answer 401 as well, such as the console.
        if response.status == 401, response.fields["www-authenticate"] == nil {
            MHD_add_response_header(native, "WWW-Authenticate", "Bearer")
        }
        if response.closes || daemon.isStopping || isDirect {
            MHD_add_response_header(native, "Connection", "close")
        }
        return MHD_queue_response(connection, UInt32(response.status), native)
    }
}

extension HTTPResponse {
    /// The response to requests that have not begun when the server stops.
    fileprivate static var stopping: HTTPResponse {
        var response = HTTPResponse(status: 503)
        response.closes = true
        return response
    }
}

extension HTTPRequestRecord {
    fileprivate init(_ head: HTTPRequestHead) {
        self.init(
            method: head.method, path: String(head.target.prefix { $0 != "?" }.prefix(1024)), peer: head.peer,
            requestID: head.requestID, trace: head.trace, notes: head.notes)
    }
}
