import FoundationEssentials
import HTTPTypes

/// A JSON document that the console receives.
protocol JSONDocument: Decodable {
    /// The document's form, for the refusal of another.
    static var form: String { get }
    /// The longest document, in bytes.
    static var longest: Int { get }
}

extension JSONDocument {
    static var longest: Int { SmallBody.longest }

    /// - Returns: `nil` if the document does not have the expected form.
    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}

/// The object that a page wants to show.
struct ContentRequest: JSONDocument, Sendable {
    static let form = #"{"fileId": …}"#

    let fileId: String
}

/// The objects of an archive that a page requests, as the gateway's REST route takes them.
struct ArchiveOptions: JSONDocument, Encodable, Sendable {
    static let form = #"{"fileIds": […]} or {"filter": …, "timeZone": …}"#
    /// The longest request in bytes, which has 10,000 ids.
    static let longest = 512 << 10

    let fileIds: [String]?
    let filter: String?
    let timeZone: String?

    var json: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

/// The options of a backup that a page requests.
struct BackupOptions: JSONDocument, Sendable {
    static let form = #"{"withoutObjects": true or false}"#

    let withoutObjects: Bool

    var json: [UInt8] { Array(#"{"withoutObjects":\#(withoutObjects)}"#.utf8) }
}

/// The parameters with which a provider sent the browser back.
struct ProviderRedirect: JSONDocument {
    static let form = #"{"code": …, "state": …, "issuer": …}"#

    let code: String
    let state: String
    /// The provider's name for itself; `nil` if it sent none.
    let issuer: String?
}

/// Receives the small body of a request to the console itself, and responds to it.
final class SmallBody: HTTPBodySink {
    /// The longest body, in bytes, of requests without a limit of their own; a password has 1024 at most.
    static let longest = 16 << 10

    private var bytes: [UInt8] = []
    private var isTooLong = false
    private let limit: Int
    private let respond: ([UInt8]) -> HTTPResponse

    /// - Parameter limit: the longest body, in bytes.
    init(limit: Int = longest, _ respond: @escaping ([UInt8]) -> HTTPResponse) {
        self.limit = limit
        self.respond = respond
    }

    func receive(_ piece: UnsafeRawBufferPointer) {
        isTooLong = isTooLong || bytes.count + piece.count > limit
        if !isTooLong { bytes += piece }
    }

    var isAnswered: Bool { isTooLong }

    func finish() -> HTTPResponse {
        isTooLong ? .refusal(.malformed("at most \(limit) bytes long")) : respond(bytes)
    }

    func abandon() {}
}

/// The request body of a sign-in: its first step, or the second one.
enum SignIn {
    static let form = "\(PasswordSignIn.form) or \(SecondFactorSignIn.form)"

    case password(PasswordSignIn)
    case secondFactor(SecondFactorSignIn)

    init?(json: [UInt8]) {
        if let read = PasswordSignIn(json: json) {
            self = .password(read)
        } else if let read = SecondFactorSignIn(json: json) {
            self = .secondFactor(read)
        } else {
            return nil
        }
    }
}

/// The first step of a sign-in.
struct PasswordSignIn: JSONDocument {
    static let form = #"{"organization": …, "userName": …, "password": …}"#

    let organization: String
    let userName: String
    let password: String
}

/// The second step of a sign-in.
struct SecondFactorSignIn: JSONDocument {
    static let form = #"{"challenge": …, "code": …}"#

    let challenge: String
    let code: String
}
