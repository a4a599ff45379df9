import Basics
import Crypto
import Database
import RPC

/// The rules of requests for a status: sending, answering, and reading the answer.
struct StatusRequests: Sendable {
    let database: Database
    let clock: any WallClock
    let limits: ShareCodeLimits
    let contents: SealedContents
    let origins: RowOrigins
    let stored: RowEstimate
    let waits: InboxWaits

    /// Sends a request; the same request again changes nothing.
    ///
    /// - Returns: its current state.
    /// - Throws: ALREADY_EXISTS if another request has the id, RESOURCE_EXHAUSTED if too many wait for the addressee.
    func send(_ request: StatusRequest, for address: String) async throws -> StatusRequestState {
        try limits.countStatusRequest(from: request.sender, of: address)
        let now = clock.now()
        let message = contents.seal(request.message, in: .message(requestID: request.id))
        let origin = origins.digest(of: address)
        return try await database.write { [contents, stored, waits] connection in
            let records = StatusRequestRecords(connection)
            if let known = try records.find(request.id) {
                guard try known.isSame(as: request, contents) else {
                    throw RPCError.alreadyExists("another request has the requestId")
                }
                return known.state(at: now)
            }
            try stored.checkCapacity { try records.count(ofOrigin: origin, limit: $0) }
            let (all, new) = try records.open(
                to: request.addressee, at: now, limit: ShareCodesConfiguration.openRequestsToUmid)
            guard new < ShareCodesConfiguration.newRequestsToUmid, all < ShareCodesConfiguration.openRequestsToUmid
            else {
                throw RPCError.rateLimited(
                    "too many requests to this person are not answered: try again later", retryAfterMilliseconds: 60_000
                )
            }
            try records.insert(
                request, message: message, origin: origin, at: now, expiresAt: now.adding(StatusRequest.lifetime))
            connection.afterCommit {
                stored.add()
                waits.wake(request.addressee)
            }
            return .pending
        }
    }

    /// Answers a request, once; the same answer again changes nothing. The answer can be read for 24 hours.
    ///
    /// - Parameters:
    ///   - state: accepted or declined.
    ///   - data: what the app encrypted for the sender; `nil` = nothing.
    ///   - umid: the caller's.
    /// - Throws: NOT_FOUND if there is no such request to the umid, or it has expired; ALREADY_EXISTS after another answer.
    func answer(_ id: String, _ state: StatusRequestState, data: String?, by umid: String) async throws {
        let now = clock.now()
        let sealed = data.map { contents.seal($0, in: .answer(requestID: id)) }
        try await database.write { [contents] connection in
            let records = StatusRequestRecords(connection)
            guard let request = try records.find(id), request.addressee == umid, request.state(at: now) != .expired
            else { throw RPCError.notFound("the request does not exist, or has expired") }
            if request.storedState.isAnswer {
                let earlier = try request.answer.map { try contents.open($0, in: .answer(requestID: id)) }
                guard request.storedState == state, now >= request.expiresAt || earlier == data else {
                    throw RPCError.alreadyExists("the request was already answered differently")
                }
                return
            }
            try records.answer(
                request.position, state, data: sealed, at: now, expiresAt: now.adding(StatusRequest.lifetime))
        }
    }

    /// Returns the state of a request and the data of its answer, which is `nil` without an answer and when its time is over.
    ///
    /// - Parameter umid: the caller's.
    /// - Throws: NOT_FOUND if the umid sent no such request.
    func sent(_ id: String, by umid: String) async throws -> (state: StatusRequestState, data: String?) {
        let now = clock.now()
        guard let request = try await database.read({ try StatusRequestRecords($0).find(id) }), request.sender == umid
        else { throw RPCError.notFound("the request does not exist") }
        let answer = now < request.expiresAt ? request.answer : nil
        return (request.state(at: now), try answer.map { try contents.open($0, in: .answer(requestID: id)) })
    }
}

extension StatusRequestRecord {
    /// Whether it was made from an equal request. The message of a request whose time is over is not compared.
    fileprivate func isSame(as request: StatusRequest, _ contents: SealedContents) throws -> Bool {
        let text = try message.map { try contents.open($0, in: .message(requestID: id)) }
        return sender == request.sender && addressee == request.addressee
            && (text ?? request.message) == request.message
    }
}

/// A person's request for another person's status.
struct StatusRequest: Sendable, Hashable {
    /// The time in which it can be answered, and in which its answer can be read.
    static let lifetime = Duration.hours(24)
    /// The time after its end in which its row is kept without its contents.
    static let retention = Duration.days(30)

    /// The app's id of the request.
    let id: String
    /// The sender's umid.
    let sender: String
    /// The umid of the person who is asked.
    let addressee: String
    let message: String
}

/// The progress of a request for a status.
enum StatusRequestState: String, Sendable {
    case pending
    /// The addressee's app has received it.
    case delivered
    case accepted
    case declined
    /// The time for an answer is over.
    case expired

    var isAnswer: Bool { self == .accepted || self == .declined }
}
