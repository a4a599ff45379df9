import CPQ
import Glibc

/// A connection of libpq. No call waits longer than its deadline; after that, and after an error of the network or one with which
/// the server ends the connection, the link is lost and is not used again.
final class PostgresLink {
    let connection: OpaquePointer
    private let password: String
    /// The number of warnings that the server has sent.
    private let warnings: UnsafeMutablePointer<Int>
    private(set) var isLost = false
    /// The time in milliseconds after which a wait looks for a later timeline.
    private static let longestPoll: Int64 = 500
    /// Whether a statement was sent whose result was not read.
    private var hasUnreadResult = false
    /// The statement whose rows are being read one at a time.
    var openRows: PostgresRows?

    /// Counts the messages for whose answers the program waits.
    var roundTrips: RoundTrips?
    private let timelines: Timelines
    /// The timeline of the server; the largest number = unknown.
    private(set) var timeline = Int64.max

    /// - Parameter parameters: those of libpq.
    init(
        _ parameters: [String: String], atMost limit: Duration, _ timelines: Timelines
    ) throws(DatabaseError) {
        self.timelines = timelines
        password = parameters["password"] ?? ""
        let deadline = ContinuousClock.now + limit
        let names = Array(parameters.keys)
        let started = Self.withTexts(names) { names in
            Self.withTexts(Array(parameters.values)) { PQconnectStartParams(names, $0, 0) }
        }
        guard let started else { throw .unavailable("out of memory") }
        connection = started
        warnings = .allocate(capacity: 1)
        warnings.initialize(to: 0)
        PQsetNoticeReceiver(
            connection,
            { warnings, notice in
                if cpq_is_warning(notice) != 0 { warnings?.assumingMemoryBound(to: Int.self).pointee += 1 }
            }, warnings)
        try connect(until: deadline)
        PQsetnonblocking(connection, 1)
    }

    deinit {
        PQfinish(connection)
        warnings.deallocate()
    }

    /// Runs `body` with an array of C strings that ends with NULL.
    private static func withTexts<T>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T
    ) -> T {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
    }

    private func connect(until deadline: ContinuousClock.Instant) throws(DatabaseError) {
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard next != PGRES_POLLING_FAILED else { throw lost() }
            try wait(for: next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline)
            next = PQconnectPoll(connection)
        }
    }

    /// The state of the transaction; of none after ``post(_:)``.
    var transactionStatus: PGTransactionStatusType {
        hasUnreadResult ? PQTRANS_IDLE : PQtransactionStatus(connection)
    }

    var backend: Int32 { PQbackendPID(connection) }

    var serverVersion: Int32 { PQserverVersion(connection) }

    var serverEncoding: String { PQparameterStatus(connection, "server_encoding").map { String(cString: $0) } ?? "" }

    var warningCount: Int { warnings.pointee }

    /// Sends something to the server, and returns the last of its results, or the first that is an error.
    ///
    /// - Parameter send: one of the functions PQsend….
    /// - Throws: ``DatabaseError/unavailable(_:)``; the link is lost then.
    func run(atMost limit: Duration, _ send: (OpaquePointer) -> Int32) throws(DatabaseError) -> PostgresResult {
        let deadline = try start(atMost: limit)
        roundTrips?.note()
        guard send(connection) == 1 else { throw lost() }
        try flush(until: deadline)
        return try results(until: deadline)
    }

    /// Sends several statements in one message; the server skips those behind one that fails.
    ///
    /// - Parameter sends: each sends one statement by one of the functions PQsend….
    /// - Returns: their results; the last one may be an error.
    func run(
        atMost limit: Duration, pipeline sends: [(OpaquePointer) -> Int32]
    ) throws(DatabaseError) -> [PostgresResult] {
        let deadline = try sendPipeline(sends, atMost: limit)
        var results: [PostgresResult] = []
        try endPipeline(until: deadline) { results.append($0) }
        return results
    }

    /// Sends several statements in one message.
    ///
    /// - Returns: the end of the time in which they have to end.
    func sendPipeline(
        _ sends: [(OpaquePointer) -> Int32], atMost limit: Duration
    ) throws(DatabaseError) -> ContinuousClock.Instant {
        let deadline = try start(atMost: limit)
        roundTrips?.note()
        guard PQenterPipelineMode(connection) == 1 else { throw lost() }
        for send in sends {
            guard send(connection) == 1 else { throw lost() }
        }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        try flush(until: deadline)
        return deadline
    }

    /// Reads all results of the message, behind those that the caller has read.
    ///
    /// - Parameters:
    ///   - result: the latest of those, or the first that is an error.
    ///   - note: gets each result up to the first error.
    func endPipeline(
        until deadline: ContinuousClock.Instant, after result: PostgresResult? = nil,
        note: (PostgresResult) -> Void = { _ in }
    ) throws(DatabaseError) {
        var latest = result
        while true {
            try waitForResult(until: deadline)
            guard let handle = PQgetResult(connection) else {
                // The end of a statement's results; behind a lost connection there is nothing else.
                guard PQstatus(connection) == CONNECTION_OK else { throw lost(latest) }
                continue
            }
            let result = PostgresResult(handle)
            switch PQresultStatus(handle) {
            case PGRES_PIPELINE_SYNC:
                guard latest != nil, PQexitPipelineMode(connection) == 1 else { throw lost() }
                return
            case PGRES_PIPELINE_ABORTED: break
            default:
                guard !result.endsConnection else { throw lost(result) }
                guard latest?.state == nil else { continue }
                latest = result
                note(result)
            }
        }
    }

    /// Sends a statement without waiting for its result, which is read and ignored before the next one.
    func post(_ sql: String) throws(DatabaseError) {
        _ = try start(atMost: .seconds(1))
        guard PQsendQuery(connection, sql) == 1, PQflush(connection) >= 0 else { throw lost() }
        hasUnreadResult = true
    }

    /// Reads what ``post(_:)`` has left, and the rest of the rows that are being read.
    ///
    /// - Returns: the end of the time in which the next statement has to end.
    private func start(atMost limit: Duration) throws(DatabaseError) -> ContinuousClock.Instant {
        guard !isLost else { throw .unavailable("the connection is closed") }
        let deadline = ContinuousClock.now + limit
        try openRows?.readRest()
        if hasUnreadResult {
            hasUnreadResult = false
            try flush(until: deadline)
            _ = try results(until: deadline)
        }
        return deadline
    }

    private func flush(until deadline: ContinuousClock.Instant) throws(DatabaseError) {
        while true {
            let state = PQflush(connection)
            guard state >= 0 else { throw lost() }
            if state == 0 { return }
            // The server may stop reading until its own answers are read.
            try wait(for: POLLIN | POLLOUT, until: deadline)
            guard PQconsumeInput(connection) == 1 else { throw lost() }
        }
    }

    func waitForResult(until deadline: ContinuousClock.Instant) throws(DatabaseError) {
        while PQisBusy(connection) != 0 {
            try wait(for: POLLIN, until: deadline)
            // An error is found again with the next result.
            PQconsumeInput(connection)
        }
    }

    private func results(until deadline: ContinuousClock.Instant) throws(DatabaseError) -> PostgresResult {
        var latest: PostgresResult?
        while true {
            try waitForResult(until: deadline)
            guard let handle = PQgetResult(connection) else { break }
            let result = PostgresResult(handle)
            if latest?.state == nil { latest = result }
        }
        if PQstatus(connection) == CONNECTION_BAD || latest?.endsConnection == true {
            throw lost(latest)
        }
        guard let latest else { throw lost() }
        return latest
    }

    /// Sets the timeline of the server.
    ///
    /// - Throws: if a later one is known.
    func setTimeline(_ timeline: Int64) throws(DatabaseError) {
        self.timeline = timeline
        if !timelines.note(timeline) { throw former() }
    }

    /// Whether another server has replaced this one since.
    var isOfFormerPrimary: Bool { !timelines.isLatest(timeline) }

    /// Gives the link to a former primary up.
    func former() -> DatabaseError {
        abandon()
        return Timelines.formerPrimary
    }

    private func wait(for events: Int32, until deadline: ContinuousClock.Instant) throws(DatabaseError) {
        while true {
            // It may never answer.
            if isOfFormerPrimary { throw former() }
            let left = (deadline - .now).wholeMilliseconds
            guard left >= 0 else { throw lost(reason: "the server does not answer in time") }
            var descriptor = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
            guard descriptor.fd >= 0 else { throw lost() }
            let count = poll(&descriptor, 1, Int32(clamping: min(left + 1, Self.longestPoll)))
            if count > 0 { return }
            if count < 0 && errno != EINTR { throw lost(reason: "poll: \(String(cString: strerror(errno)))") }
        }
    }

    /// Gives the link up.
    func abandon() {
        isLost = true
        openRows = nil
    }

    func lost(_ result: PostgresResult? = nil, reason: String? = nil) -> DatabaseError {
        abandon()
        let message = reason ?? result?.message ?? String(cString: PQerrorMessage(connection))
        return .unavailable(redacted(message))
    }

    /// Returns a message without the password, on one line.
    private func redacted(_ message: String) -> String {
        let shown = password.isEmpty ? message : message.replacing(password, with: "***")
        return shown.split(separator: "\n").joined(separator: " ")
    }
}
