/// A part of a response, as it goes to the client.
package struct ResponsePart: Sendable {
    package enum End: Sendable {
        /// Another part follows.
        case none
        /// The header section is all of the response.
        case head
        /// Nothing follows the body, and the client may go on with its request.
        case body
        /// The response breaks off behind the body, and the client is to see that it is not whole.
        case broken
        /// These fields follow the body.
        case trailers(ResponseSection)
    }

    /// The header section; `nil` where it was sent before.
    package var head: ResponseSection?
    package var body: [UInt8]
    package var end: End

    package init(head: ResponseSection? = nil, body: [UInt8] = [], end: End = .none) {
        self.head = head
        self.body = body
        self.end = end
    }

    /// Whether nothing follows.
    package var isLast: Bool {
        if case .none = end { false } else { true }
    }
}
