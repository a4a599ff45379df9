/// A part of a response to be sent to the client.
package struct ResponsePart: Sendable {
    package enum End: Sendable {
        /// Another part follows.
        case none
        /// The header section is all of the response.
        case head
        /// Nothing follows the body, and the client may continue its request.
        case body
        /// The response ends incomplete after the body, which the client must notice.
        case broken
        /// These fields follow the body.
        case trailers(ResponseSection)
    }

    /// The header section; `nil` if it was sent before.
    package var head: ResponseSection?
    package var body: [UInt8]
    package var end: End

    package init(head: ResponseSection? = nil, body: [UInt8] = [], end: End = .none) {
        self.head = head
        self.body = body
        self.end = end
    }

    /// Whether the response ends with this part.
    package var isLast: Bool {
        if case .none = end { false } else { true }
    }
}
