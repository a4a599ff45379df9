package import Basics
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

/// An argument with a number of bytes above 0: `1048576`, `500KB`, `1.5MiB`.
package struct ByteQuantityArgument: ArgumentValue, Hashable, Sendable {
    package let bytes: Int64

    package init(argument: String) throws(ArgumentProblem) {
        guard let bytes = ByteQuantity.bytes(argument), bytes > 0 else {
            throw ArgumentProblem("must be a number of bytes such as 1048576, 500KB or 1.5MiB, not '\(argument)'")
        }
        self.bytes = bytes
    }
}

/// An argument `KEY=VALUE`; the value may contain further equals signs, and be empty.
package struct TagArgument: ArgumentValue, Hashable, Sendable {
    package let key: String
    package let value: String

    package init(argument: String) throws(ArgumentProblem) {
        let halves = argument[...].halves(atFirst: "=")
        guard let value = halves.second, !halves.first.isEmpty else {
            throw ArgumentProblem("must be KEY=VALUE, not '\(argument)'")
        }
        key = String(halves.first)
        self.value = String(value)
    }
}

extension [TagArgument] {
    /// - Throws: if a key is given twice, because one of the values would be lost.
    package func dictionary() throws(ClientFailure) -> [String: String] {
        var result: [String: String] = [:]
        for tag in self where result.updateValue(tag.value, forKey: tag.key) != nil {
            throw ClientFailure("the tag \(tag.key) is given twice", exitCode: .usage)
        }
        return result
    }
}

/// A time in the past, written as an age or as a date.
package enum PastTime: ArgumentValue, Hashable {
    case ago(seconds: Int64)
    case at(UnixTime)

    package init(argument: String) throws(ArgumentProblem) {
        if let unit = argument.last.flatMap({ TimeSpan.units[$0] }), let count = Int32(argument.dropLast()), count >= 0
        {
            self = .ago(seconds: Int64(count) * unit)
        } else if let time = UnixTime(dateOrTime: argument) {
            self = .at(time)
        } else {
            throw ArgumentProblem(
                "must be an age like 30m, 24h, 7d or a time like 2026-01-31T08:00:00Z or 2026-01-31, not '\(argument)'")
        }
    }

    package func time(at now: UnixTime) -> UnixTime {
        switch self {
        case .ago(let seconds): now.adding(seconds: -seconds)
        case .at(let time): time
        }
    }
}

extension UnixTime {
    /// Parses an RFC 3339 time, or a date, which stands for the beginning of the day in UTC.
    package init?(dateOrTime text: String) {
        if let time = RFC3339.parse(text) {
            self = time.second
        } else if text.utf8.count == 10, let time = RFC3339.parse("\(text)T00:00:00Z") {
            self = time.second
        } else {
            return nil
        }
    }
}

/// A length of time, written like `30m`, `2h` or `7d`.
package struct TimeSpan: ArgumentValue, Hashable {
    fileprivate static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// The length in seconds; above 0.
    package let seconds: Int64

    package init(argument: String) throws(ArgumentProblem) {
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int32(argument.dropLast()), count > 0
        else { throw ArgumentProblem("must be a time like 30m, 2h or 7d, not '\(argument)'") }
        seconds = Int64(count) * unit
    }
}
