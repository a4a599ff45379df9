import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// What a static key signed: any object below its prefix, and the bucket as far as that reaches.
extension StoreHandler {
    /// By how much the date of such a request may be off where no limit is configured. Its key does not end by
    /// itself: a captured request would be good for ever.
    private static let clockSkew = Duration.minutes(15)

    func begin(
        _ head: HTTPRequestHead, _ request: SignedRequest, _ authentication: Authentication, by key: StaticKey,
        _ answers: StoreAnswers
    ) throws -> HTTPDisposition {
        try authentication.prove(
            request, by: key.secret, now: store.clock.now(),
            maximumClockSkew: configuration.maximumClockSkew ?? Self.clockSkew)
        head.notes.principal = CredentialClaims.Subject.staticKey(id: key.id).name
        guard let bucket = request.target.bucket else { throw StoreError.notImplemented }
        guard bucket == key.bucket else {
            throw StoreError(.noSuchBucket, "The specified bucket does not exist.")
        }
        let operation = try answers.dialect.operation(of: request)
        head.notes.operation = operation.name
        guard let name = request.target.key else {
            switch operation {
            case .listObjects(let query):
                guard key.reaches(query.prefix) else {
                    throw StoreError(.accessDenied, "This key can only list objects below \(key.prefix): set a prefix.")
                }
                return .respond(answers.objects(try store.list(query, for: key, policy: policy), query, bucket))
            default: return .respond(answers.empty(200))
            }
        }
        guard key.reaches(name) else {
            throw StoreError(.accessDenied, "This key can only use objects below \(key.prefix).")
        }
        let signatures = authentication.chunkSignatures(key.secret)
        let part = part(of: .success(operation), head, request, signatures, answers.dialect)
        let (claims, decision, isThere) = try store.decide(key, on: name, policy, part: part?.start)
        head.notes.target = claims.target
        if operation == .deleteObject { return .respond(try delete(claims, decision, isThere, answers)) }
        let access: StoreAccess
        do {
            access = try StoreAccess(
                claims, decision, chunkSignatures: signatures, store: store, policy: policy)
        } catch let error as StoreError where error == .noSuchUpload {
            // What is there, and not to be known of: who asks has no upload.
            throw StoreError.noSuchKey
        }
        return try perform(operation, head, request, access, answers, part: part)
    }

    /// What is not there is deleted already.
    private func delete(
        _ claims: CredentialClaims, _ decision: AccessDecision, _ isThere: Bool, _ answers: StoreAnswers
    ) throws -> HTTPResponse {
        guard case .allowed = decision, claims.operations.contains(.write) else {
            throw StoreError(.accessDenied, "This key may not delete the object.")
        }
        if isThere { try store.delete(claims, policy) }
        return answers.empty(204)
    }
}
