package import HTTPTypes

/// The error of a parameter's text: the rest of a sentence that begins with the parameter's name.
package struct ArgumentProblem: Error, Hashable {
    let predicate: String

    /// The message for a sentence that begins with another name.
    package var message: String { predicate }

    package init(_ predicate: String) { self.predicate = predicate }
}

/// A type that a parameter's text can be converted to.
package protocol ArgumentValue {
    /// The words that are possible, if there are only a few; default: none.
    static var choices: [String] { get }

    init(argument: String) throws(ArgumentProblem)
}

extension ArgumentValue {
    package static var choices: [String] { [] }
}

extension String: ArgumentValue {
    package init(argument: String) throws(ArgumentProblem) {
        self = argument
    }
}

extension Int64: ArgumentValue {
    package init(argument: String) throws(ArgumentProblem) {
        guard let number = Int64(argument) else {
            throw ArgumentProblem("must be a whole number, not '\(argument)'")
        }
        self = number
    }
}

extension PeerAddress: ArgumentValue {
    package init(argument: String) throws(ArgumentProblem) {
        guard let address = PeerAddress(argument) else {
            throw ArgumentProblem("must be HOST:PORT (IPv6: [HOST]:PORT), not '\(argument)'")
        }
        self = address
    }
}

extension Optional: ArgumentValue where Wrapped: ArgumentValue {
    package static var choices: [String] { Wrapped.choices }

    package init(argument: String) throws(ArgumentProblem) {
        self = .some(try Wrapped(argument: argument))
    }
}

/// A value that is one of a few words.
package protocol ArgumentChoice: ArgumentValue, CaseIterable, RawRepresentable<String> {}

extension ArgumentChoice {
    package static var choices: [String] { allCases.map(\.rawValue) }

    package init(argument: String) throws(ArgumentProblem) {
        guard let choice = Self(rawValue: argument) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw ArgumentProblem("must be one of \(words), not '\(argument)'")
        }
        self = choice
    }
}
