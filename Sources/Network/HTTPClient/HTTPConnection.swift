import Basics
import CCurl
package import HTTPTypes
import Synchronization

/// The connection of an HTTP/1.1 client to its server, opened when needed and kept for further requests; several, if the options
/// permit several exchanges at a time. Further exchanges wait.
///
/// libcurl does the work on the process's threads for transfers (``TransferThread``): an exchange that waits for its server occupies
/// no thread. It follows no redirects, and sends no request again whose body the server may have read.
package final class HTTPConnection: Sendable {
    package struct Options: Sendable {
        /// The longest time to open a connection, including TLS.
        package var connectTimeout: Duration = .seconds(10)
        /// The longest time without progress in either direction. An exchange that waits for its caller makes progress.
        package var stallTimeout: Duration = .seconds(30)
        /// The longest time for an exchange; `nil` = unlimited while there is progress.
        package var totalTimeout: Duration?
        /// The PEM file of authorities for the certificate of an `https` server; `nil` = those that the system trusts.
        package var authorities: String?
        /// The address to connect to in place of that of the URL, whose host is still the one that the certificate must have; `nil` =
        /// that of the URL.
        package var connectTo: PeerAddress?
        /// The common rate limit for sending bodies over several connections; `nil` = unlimited. Not for streamed bodies.
        package var sendLimit: RateLimit?
        /// The common rate limit for receiving bodies; `nil` = unlimited. Not for streamed bodies.
        package var receiveLimit: RateLimit?
        /// The largest number of exchanges at a time, each over a connection of its own.
        package var maximumExchanges = 1

        package init(authorities: String? = nil, sendLimit: RateLimit? = nil) {
            self.authorities = authorities
            self.sendLimit = sendLimit
        }
    }

    private struct Turns {
        var active = 0
        /// The number of exchanges of each lane, including those that wait.
        var assigned: [Int]
        var waiting = FIFOQueue<Transfer>()
    }

    /// The largest response body in bytes that is kept if no receiver takes it.
    package static let maximumKeptBody = 8 << 20
    /// The number of bytes kept of the body of an unsuccessful response; the rest, up to `maximumKeptBody`, is dropped.
    package static let maximumKeptError = 64 << 10

    /// The number of readers without a thread that are kept.
    private static let maximumIdleReaders = 32

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    /// Distributes connections over the threads.
    private static let created = Atomic(0)

    let options: Options
    private let lanes: [TransferLane]
    /// The readers that nobody uses, with the connections that they keep.
    private let readers = Lock<[ReaderLoop]>([])
    private let turns: Lock<Turns>

    package init(_ options: Options = Options()) {
        self.options = options
        let threads = TransferThread.all
        let first = Self.created.wrappingAdd(1, ordering: .relaxed).oldValue
        lanes = (0..<min(threads.count, max(1, options.maximumExchanges))).map {
            TransferLane(on: threads[(first + $0) % threads.count])
        }
        turns = Lock(Turns(assigned: lanes.map { _ in 0 }))
    }

    /// Makes a reader of bodies. A thread that reads a long body by itself needs 0.6 times the CPU time of one that gets the bytes from
    /// another.
    package func makeReader() -> HTTPBodyReader {
        HTTPBodyReader(self, readers.withLock { $0.popLast() } ?? ReaderLoop())
    }

    func keep(_ loop: ReaderLoop) {
        readers.withLock { readers in
            if readers.count < Self.maximumIdleReaders { readers.append(loop) }
        }
    }

    /// The number of exchanges in progress.
    package var exchanges: Int { turns.withLock { $0.active } }

    /// Sends a request and waits for the complete response, whatever its status.
    ///
    /// - Parameters:
    ///   - receiver: called on threads of ``Worker/disk``, never at the same time.
    ///   - sent: called with the number of body bytes that were just passed to the socket, on the same threads.
    /// - Throws: `TransferFailure`; the failure of the body's bytes; `CancellationError` soon after the task was cancelled;
    ///   the error of `receiver`.
    package func exchange(
        _ request: HTTPRequest, receiver: HTTPReceiver? = nil, sent: (@Sendable (Int) -> Void)? = nil
    ) async throws -> HTTPReply {
        var mode = Transfer.Mode(isTaken: receiver != nil)
        let sender = BodySender(request.body, limit: options.sendLimit, sent: sent)
        switch request.body {
        case .none: break
        case .bytes(let bytes) where sender == nil: mode.body = .bytes(bytes)
        case .bytes, .ranged: mode.body = .written(size: request.body.size)
        }
        let transfer = makeTransfer(request, mode)
        return try await withTaskCancellationHandler {
            begin(transfer)
            guard let sender else { return try await receive(transfer, receiver) }
            return try await withThrowingTaskGroup(of: HTTPReply?.self) { group in
                group.addTask {
                    try await sender.send(to: transfer)
                    return nil
                }
                group.addTask { [self] in try await receive(transfer, receiver) }
                do {
                    var reply: HTTPReply?
                    for try await result in group { reply = result ?? reply }
                    guard let reply else { throw CancellationError() }
                    return reply
                } catch {
                    transfer.cancel(error)
                    throw error
                }
            }
        } onCancel: {
            transfer.cancel()
        }
    }

    private func receive(_ transfer: Transfer, _ receiver: HTTPReceiver?) async throws -> HTTPReply {
        guard let receiver else { return try await transfer.reply() }
        do {
            return try await receiver.takeResponse(of: transfer, limit: options.receiveLimit)
        } catch {
            transfer.cancel(error)
            throw error
        }
    }

    // MARK: Turns

    /// Makes a transfer, which `begin` starts.
    ///
    /// - Parameter reader: runs it; `nil` = a thread for transfers.
    func makeTransfer(_ request: HTTPRequest, _ mode: Transfer.Mode, by reader: ReaderLoop? = nil) -> Transfer {
        if let reader {
            return Transfer(request, mode, options, on: reader, reader.cache) { [self] in end($0) }
        }
        let index = turns.withLock { turns in
            turns.assigned.indices.min { turns.assigned[$0] < turns.assigned[$1] } ?? 0
        }
        return Transfer(request, mode, options, on: lanes[index].thread, lanes[index].cache) { [self] in end($0) }
    }

    /// Starts a transfer when it is its turn.
    func begin(_ transfer: Transfer) {
        precondition(Self.isReady, "libcurl cannot start")
        let number = number(of: transfer)
        let isNext = turns.withLock { turns in
            if let number { turns.assigned[number] += 1 }
            guard turns.active < options.maximumExchanges else {
                turns.waiting.append(transfer)
                return false
            }
            turns.active += 1
            return true
        }
        if isNext { transfer.start() }
    }

    private func end(_ transfer: Transfer) {
        let number = number(of: transfer)
        let next = turns.withLock { turns in
            if let number { turns.assigned[number] -= 1 }
            let next = turns.waiting.popFirst()
            if next == nil { turns.active -= 1 }
            return next
        }
        next?.start()
    }

    /// The number of the lane of a transfer; `nil` for one that its reader runs.
    private func number(of transfer: Transfer) -> Int? {
        transfer.reader == nil ? lanes.firstIndex { $0.thread === transfer.thread } : nil
    }
}
