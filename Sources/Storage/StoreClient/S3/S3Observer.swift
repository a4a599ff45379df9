import HTTPClient
import StoreProtocol

/// The kinds of requests to an S3 store.
package enum S3RequestKind: Int, Sendable, CaseIterable {
    case put
    case get
    case head
    case delete
    /// Lists, and the properties of the bucket.
    case list
}

/// The end of a request to an S3 store.
package enum S3RequestResult: Int, Sendable, CaseIterable {
    /// The store did what it was asked for, or found that a key has no object, or that a condition does not hold.
    case done
    /// The store refused it: with the same request, this does not change.
    case refused
    /// The store has failed, or is overloaded.
    case failed
    /// There was no response.
    case unanswered

    /// - Parameter error: of the request; `nil` = it succeeded.
    package init(_ kind: S3RequestKind, _ error: (any Error)?) {
        switch error {
        case nil: self = .done
        case let refusal as StoreRefusal:
            switch refusal.kind {
            // A key that is read has been stored.
            case .notFound: self = kind == .get || refusal.code == "NoSuchBucket" ? .refused : .done
            case .preconditionFailed: self = .done
            case .retriable: self = .failed
            case .accessDenied, .expiredCredentials, .other: self = .refused
            }
        default: self = .unanswered
        }
    }
}

/// Is told what the requests of a client come to; by any thread.
package protocol S3Observer: AnyObject, Sendable {
    /// A request has ended.
    ///
    /// - Parameters:
    ///   - error: `nil` = it succeeded.
    ///   - duration: the time for which the client waited for the response: for a streamed body, from its end on.
    func ended(_ kind: S3RequestKind, _ error: (any Error)?, after duration: Duration)
    /// Bytes of a body were passed on to the store.
    func sent(_ count: Int)
}

extension S3Operation {
    var kind: S3RequestKind {
        switch (method, key) {
        case ("PUT", _): .put
        case ("HEAD", _): .head
        case ("DELETE", _), ("POST", _): .delete
        case (_, nil): .list
        default: .get
        }
    }
}
