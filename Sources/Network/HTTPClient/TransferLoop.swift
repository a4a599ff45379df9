import CCurl
import CEpoll
import CLinux

/// The transfers of one thread: libcurl's multi interface over epoll. Used by one thread at a time.
final class TransferLoop {
    /// The longest time between two checks for stalled transfers.
    private static let longestCheck = Duration.seconds(1)
    private static let shortestCheck = Duration.milliseconds(20)

    private let commands: TransferCommands
    private let poller: TransferPoller
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The time of libcurl's next timeout.
    private var timeout: ContinuousClock.Instant?
    private var nextCheck = ContinuousClock.now
    /// The transfers of which callbacks ran since the last turn.
    private var touched: [Transfer] = []

    /// `nil` without memory. At its end, the loop closes the descriptors of the poller.
    init?(_ commands: TransferCommands, _ poller: TransferPoller) {
        guard let multi = curl_multi_init() else { return nil }
        self.commands = commands
        self.poller = poller
        self.multi = multi
        let context = Unmanaged.passUnretained(self).toOpaque()
        curl_multi_set_socket(
            multi,
            { _, socket, wanted, context, _ in
                guard let context else { return 0 }
                Unmanaged<TransferLoop>.fromOpaque(context).takeUnretainedValue().wait(for: wanted, on: socket)
                return 0
            }, context)
        curl_multi_set_timer(
            multi,
            { _, milliseconds, context in
                guard let context else { return 0 }
                let loop = Unmanaged<TransferLoop>.fromOpaque(context).takeUnretainedValue()
                loop.timeout = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
                return 0
            }, context)
        // A client has as many connections as exchanges: all may be kept.
        curl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 1024)
    }

    deinit {
        curl_multi_cleanup(multi)
        poller.close()
    }

    func run() -> Never {
        while true { turn() }
    }

    /// Waits until something is to be done, and does it.
    ///
    /// - Parameter limit: of the wait; `nil` = none.
    func turn(atMost limit: Duration? = nil) {
        withUnsafeTemporaryAllocation(of: poller_event.self, capacity: Int(poller_most_events)) { ready in
            let count = poller_wait(poller.descriptor, ready.baseAddress, waitMilliseconds(atMost: limit))
            for event in ready[..<Int(count)] { handle(event) }
        }
        if let due = timeout, due <= .now {
            timeout = nil
            act(CURL_SOCKET_TIMEOUT, 0)
        }
        handleCommands()
        if !transfers.isEmpty, nextCheck <= .now { endStalled() }
    }

    /// Does what is to be done without waiting for sockets.
    func handleCommands() {
        for command in commands.take() { handle(command) }
        endCompleted()
        wakeTouched()
    }

    /// Begins to run the transfers again after a time in which nothing did, which is not theirs.
    func resumeTiming() {
        let now = ContinuousClock.now
        for (curl, transfer) in transfers { transfer.progress = (Self.progress(of: curl), now) }
    }

    /// The time until something is due, rounded up; -1 = nothing is.
    private func waitMilliseconds(atMost limit: Duration?) -> Int32 {
        let latest = limit.map { ContinuousClock.now + $0 }
        let due = [timeout, transfers.isEmpty ? nil : nextCheck, latest].compactMap { $0 }.min()
        guard let due else { return -1 }
        let (seconds, attoseconds) = max(.zero, due - .now).components
        return Int32(min(3600, seconds) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    private func wait(for wanted: Int32, on socket: Int32) {
        let wantsInput = wanted == CURL_POLL_IN || wanted == CURL_POLL_INOUT
        let wantsOutput = wanted == CURL_POLL_OUT || wanted == CURL_POLL_INOUT
        poller_watch(poller.descriptor, socket, wantsInput, wantsOutput)
    }

    private func handle(_ event: poller_event) {
        guard event.descriptor != poller.event else {
            return linux_clear_event(poller.event)
        }
        let flags =
            (event.readable ? CURL_CSELECT_IN : 0) | (event.writable ? CURL_CSELECT_OUT : 0)
            | (event.failed ? CURL_CSELECT_ERR : 0)
        act(event.descriptor, flags)
    }

    private func act(_ socket: Int32, _ flags: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, flags, &running)
    }

    private func handle(_ command: TransferCommand) {
        switch command {
        case .start(let transfer): start(transfer)
        case .resume(let transfer):
            guard let curl = transfer.handle, transfers[curl] != nil else { return }
            resume(transfer, curl)
        case .cancel(let transfer):
            guard let curl = transfer.handle, transfers[curl] != nil else { return }
            end(transfer, curl, .failure(CancellationError()))
        case .release(let cache): cache.close()
        }
    }

    private func start(_ transfer: Transfer) {
        guard !transfer.isOver else { return transfer.end(.failure(CancellationError())) }
        guard let curl = curl_easy_init(), let cache = transfer.cache.pointer() else {
            return transfer.end(.failure(TransferFailure.unusable("libcurl has no memory")))
        }
        transfer.configure(curl, cache) { [unowned self] in touched.append($0) }
        transfers[curl] = transfer
        if transfers.count == 1 { nextCheck = .now + Self.shortestCheck }
        guard curl_multi_add_handle(multi, curl) == CURLM_OK else {
            return end(transfer, curl, .failure(TransferFailure.unusable("libcurl has no memory")))
        }
    }

    /// Continues a transfer that waits for its reader.
    func resume(_ transfer: Transfer) {
        guard let curl = transfer.handle, transfers[curl] != nil, transfer.takeWaitForReader() else { return }
        resume(transfer, curl)
    }

    private func resume(_ transfer: Transfer, _ curl: UnsafeMutableRawPointer) {
        transfer.progress = (transfer.progress.bytes, .now)
        // A body that is still waited for pauses the transfer again.
        curl_easy_pause(curl, transfer.isWaitingForReader ? CURLPAUSE_RECV : CURLPAUSE_CONT)
    }

    private func endCompleted() {
        var code = CURLE_OK
        while let curl = curl_multi_next_completed(multi, &code) {
            guard let transfer = transfers[curl] else { continue }
            let result = Result { try transfer.reply(after: code) }
            end(transfer, curl, result)
        }
    }

    private func end(
        _ transfer: Transfer, _ curl: UnsafeMutableRawPointer, _ result: Result<HTTPReply, any Error>
    ) {
        transfers[curl] = nil
        // Closes the connection unless the exchange was complete.
        curl_multi_remove_handle(multi, curl)
        transfer.release()
        transfer.end(result)
    }

    /// Wakes the callers of transfers outside libcurl's callbacks, once for all that happened to each.
    private func wakeTouched() {
        while !touched.isEmpty {
            let transfers = touched
            touched = []
            for transfer in transfers {
                if transfer.takeTouch(), let curl = transfer.handle, self.transfers[curl] != nil {
                    resume(transfer, curl)
                }
            }
            endCompleted()
        }
    }

    /// The number of body bytes transferred.
    private static func progress(of curl: UnsafeMutableRawPointer) -> Int64 {
        Int64(curl_sent_size(curl)) + Int64(curl_received_size(curl))
    }

    private func endStalled() {
        let now = ContinuousClock.now
        var interval = Self.longestCheck
        for (curl, transfer) in transfers {
            interval = min(interval, transfer.options.stallTimeout / 4)
            let bytes = Self.progress(of: curl)
            if bytes != transfer.progress.bytes || transfer.isWaitingForCaller {
                transfer.progress = (bytes, now)
            } else if now - transfer.progress.time >= transfer.options.stallTimeout {
                end(transfer, curl, .failure(TransferFailure.connection(transfer.stallReason)))
            }
        }
        nextCheck = now + max(interval, Self.shortestCheck)
    }
}
