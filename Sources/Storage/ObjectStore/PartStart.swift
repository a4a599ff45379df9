import Database

/// The beginning of a part's PUT: its place among those that write the part, and all that is to be read of it.
///
/// It has its place before anything is read: a Complete or Abort that was faster shows in what is read, and one that comes
/// later revokes the place. The place ends with this object.
package final class PartStart {
    private let writes: WritesInFlight
    let multipartID: String
    let number: Int
    /// The length of the body in bytes; nil where it is not declared.
    let length: Int64?
    let claim: WritesInFlight.Claim
    /// Nil while nothing was read, and without one.
    private var multipart: MultipartRecord?
    /// The part that is stored under that number.
    private(set) var earlier: PartRecord?
    /// What the upload's owner would have too much of; see ``AccessPolicy/excess(_:bytes:in:)``.
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

    /// No more is written: the place is somebody else's.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        writes.end(claim, part: number, of: multipartID)
    }

    /// The multipart upload that the part is of, where it is open to `claims`.
    func openMultipart(_ claims: CredentialClaims) -> MultipartRecord? {
        multipart.flatMap { $0.isOpen && $0.belongs(to: claims) ? $0 : nil }
    }

    func read(_ claims: CredentialClaims, _ policy: any AccessPolicy, in connection: Connection) throws {
        let records = StoreRecords(connection)
        multipart = try records.multipart(multipartID)
        guard openMultipart(claims) != nil else { return }
        earlier = try records.part(number, of: multipartID)
        // A client may declare any length; one that no part may have is refused for that later.
        let bytes = min(length ?? 0, multipart?.maximumPartSize ?? 0) - (earlier?.size ?? 0)
        excess = bytes > 0 ? try policy.excess(claims, bytes: bytes, in: connection) : nil
    }
}
