package import Basics
import HTTPClient
import HTTPTypes
import StoreProtocol
import XML

/// An error response of an object store.
package struct StoreRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number of scalars that are kept of a store's text, which may be stored in a database and returned in responses.
    private static let longestText = 256
    /// The number of bytes of an error document that are read; those of S3 and OSS have less than 2 KiB.
    private static let maximumDocumentBytes = HTTPConnection.maximumKeptError

    /// The HTTP status.
    package let status: Int
    /// The code in the error document, e.g. `NoSuchUpload`; empty without a code.
    package let code: String
    /// The message for people.
    package let message: String
    /// The store's id of the request, for its operator; empty without one.
    package private(set) var requestID = ""
    /// The store's time, if it reports that the client's is wrong.
    package private(set) var serverTime: UnixTime?

    package init(status: Int, code: String, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// Reads the error of a reply. For HEAD, which has no body, the document is in a header field in Base64.
    init(_ reply: HTTPReply) {
        let field = reply.fields["x-oss-err"] ?? reply.fields["x-oss-error"]
        let document = try? XMLElement(
            parsing: reply.body.isEmpty ? field.flatMap { Base64.decode($0) } ?? [] : reply.body,
            maximumBytes: Self.maximumDocumentBytes)
        func text(_ name: String) -> String {
            String(String.UnicodeScalarView((document?[name] ?? "").unicodeScalars.prefix(Self.longestText)))
        }
        self.init(status: reply.status, code: text("Code"), message: text("Message"))
        let id = text("RequestId")
        requestID = id.isEmpty ? String((reply.fields["x-amz-request-id"] ?? "").prefix(Self.longestText)) : id
        if code == "RequestTimeTooSkewed" { serverTime = reply.fields["date"].flatMap { Timestamps.parseHTTP($0) } }
    }

    package var description: String {
        let text = message.isEmpty ? "the object store answered with HTTP \(status)" : message
        return code.isEmpty ? text : "\(text) (\(code))"
    }

    /// The kind of an error of S3, for an engine that keeps objects in it.
    package enum Kind: Sendable, Hashable {
        case notFound
        /// A condition of the request does not hold.
        case preconditionFailed
        case accessDenied
        /// Other credentials may be accepted.
        case expiredCredentials
        /// The store is overloaded or has failed: later, the request may succeed.
        case retriable
        case other
    }

    /// Whether other credentials may be accepted. A response to HEAD has no document with a code.
    var mayBeOfCredentials: Bool { kind == .expiredCredentials || status == 403 && code.isEmpty }

    package var kind: Kind {
        switch (status, code) {
        case (_, "ExpiredToken"), (_, "InvalidAccessKeyId"), (_, "TokenRefreshRequired"), (401, _):
            .expiredCredentials
        case (_, "SlowDown"), (_, "RequestTimeout"), (408, _), (429, _), (500, _), (502..., _): .retriable
        case (404, _): .notFound
        case (412, _), (409, "ConditionalRequestConflict"): .preconditionFailed
        case (403, _): .accessDenied
        default: .other
        }
    }

    /// The reaction of a client, like that of deployed OSS clients.
    package enum Retryability: Sendable, Hashable {
        /// Repeat the request later.
        case retry
        /// Repeat the request once, signed with that time.
        case adoptTime(UnixTime)
        /// Repeat the request once with new credentials.
        case refreshCredentials
        /// Start over, because the upload's data is gone.
        case startOver
        /// Send again, because the received bytes were not the announced ones.
        case sendAgain
        case none
    }

    /// Whether the store never accepts these bytes or their properties, whenever they are sent.
    package var isOfContent: Bool { ["EntityTooLarge", "EntityTooSmall", "InvalidArgument"].contains(code) }

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
