import Basics
import HTTPClient
import StoreProtocol
import XML

/// What an object store said instead of doing what it was asked for.
package struct StoreRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Scalars that are kept of what a store said: it may come to stand in a database and in answers.
    private static let longestText = 256
    /// Bytes of an error document that is read; those of S3 and OSS have less than 2 KiB.
    private static let maximumDocumentBytes = HTTPConnection.maximumKeptError

    /// The status of HTTP.
    package let status: Int
    /// The code in the error document, e.g. `NoSuchUpload`; empty where there was none.
    package let code: String
    /// For people.
    package let message: String
    /// What the store's clock showed, where it found that ours is wrong.
    package private(set) var serverTime: UnixTime?

    package init(status: Int, code: String, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// HEAD has no body: its document comes in a field, in base64.
    init(_ reply: HTTPReply) {
        let field = reply.fields["x-oss-err"] ?? reply.fields["x-oss-error"]
        let document = try? XMLElement(
            parsing: reply.body.isEmpty ? field.flatMap { Base64.decode($0) } ?? [] : reply.body,
            maximumBytes: Self.maximumDocumentBytes)
        func text(_ name: String) -> String {
            String(String.UnicodeScalarView((document?[name] ?? "").unicodeScalars.prefix(Self.longestText)))
        }
        self.init(status: reply.status, code: text("Code"), message: text("Message"))
        if code == "RequestTimeTooSkewed" { serverTime = reply.fields["date"].flatMap(Timestamps.parseHTTP) }
    }

    package var description: String {
        let said = message.isEmpty ? "the object store answered with HTTP \(status)" : message
        return code.isEmpty ? said : "\(said) (\(code))"
    }

    /// What a client does about it; from what deployed clients of OSS do.
    package enum Retryability: Sendable, Hashable {
        /// The same again, later.
        case retry
        /// The same, signed at that time, once.
        case adoptTime(UnixTime)
        /// The same with fresh credentials, once.
        case refreshCredentials
        /// What the upload stored is gone.
        case startOver
        /// The bytes that came are not those that were announced.
        case sendAgain
        case none
    }

    package var retryability: Retryability {
        if let serverTime { return .adoptTime(serverTime) }
        return switch (status, code) {
        case (_, "SecurityTokenExpired"), (_, "InvalidAccessKeyId"), (_, "SignatureDoesNotMatch"),
            (_, "RequestTimeTooSkewed"), (_, "AccessDenied"), (401, _):
            .refreshCredentials
        case (_, "NoSuchUpload"), (_, "NoSuchKey"), (404, _): .startOver
        case (_, "BadDigest"), (_, "InvalidDigest"): .sendAgain
        case (501, _): .none
        case (408, _), (429, _), (500..., _): .retry
        default: .none
        }
    }
}
