import Database

/// The beginning of a part's PUT: its place among the writers of the part, and the result of all reads for it.
///
/// It gets its place before anything is read: a faster Complete or Abort shows in the reads, and a later one revokes the place. The
/// place ends with this object.
package final class PartStart {
    private let writes: WritesInFlight
    let multipartID: String
    let number: Int
    /// The length of the body in bytes; `nil` if it is not declared.
    let length: Int64?
    let claim: WritesInFlight.Claim
    /// The multipart upload; `nil` before it was read, and if it does not exist.
    private var multipart: MultipartRecord?
    /// The stored part with that number.
    private(set) var earlier: PartRecord?
    /// The quota that the upload's owner would exceed; see ``AccessPolicy/excess(_:bytes:in:)``.
    private(set) var excess: String?
    private var hasEnded = false

    init(_ writes: WritesInFlight, part number: Int, of multipartID: String, length: Int64?) {
        self.writes = writes
        self.number = number
        self.multipartID = multipartID
        self.length = length
        claim = writes.begin(part: number, of: multipartID)
    }

    deinit {
        end()
    }

    /// Ends the place; nothing is written there any more.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        writes.end(claim, part: number, of: multipartID)
    }

    /// Returns the multipart upload of the part, if it is open and belongs to `claims`.
    func openMultipart(_ claims: CredentialClaims) -> MultipartRecord? {
        multipart.flatMap { $0.isOpen && $0.belongs(to: claims) ? $0 : nil }
    }

    func read(_ claims: CredentialClaims, _ policy: any AccessPolicy, in connection: ReadConnection) throws {
        let records = StoreRecords(connection)
        multipart = try records.multipart(multipartID)
        guard openMultipart(claims) != nil else { return }
        earlier = try records.part(number, of: multipartID)
        // A client may declare any length; one that no part may have is refused for that later.
        let bytes = min(length ?? 0, multipart?.maximumPartSize ?? 0) - (earlier?.size ?? 0)
        excess = bytes > 0 ? try policy.excess(claims, bytes: bytes, in: connection) : nil
    }
}
