import Basics

/// Parses the words after a command's name into the command.
///
/// `--name VALUE` and `--name=VALUE` are equivalent; `--` ends the options. A value that begins with `--` needs the equals sign, so
/// that a forgotten value is not taken from the next option.
package struct ArgumentParser<Target> {
    private let parameters: [Parameter<Target>]
    private let path: [String]
    private var unread: ArraySlice<String>
    private var given: Set<String> = []
    private var argumentCount = 0
    private var isPastOptions = false

    /// - Parameter path: the words of the command's name, for messages.
    package static func parse(
        _ words: some Collection<String>, into target: inout Target, parameters: [Parameter<Target>], path: [String]
    ) throws(UsageError) {
        var parser = ArgumentParser(parameters: parameters, path: path, unread: ArraySlice(words))
        while let word = parser.unread.popFirst() {
            try parser.read(word, into: &target)
        }
        try parser.checkComplete()
    }

    private mutating func read(_ word: String, into target: inout Target) throws(UsageError) {
        if isPastOptions || !word.hasPrefix("-") || word == "-" || isNegativeNumber(word) {
            try readArgument(word, into: &target)
        } else if word == "--" {
            isPastOptions = true
        } else {
            try readOption(word, into: &target)
        }
    }

    /// Whether the word is a number such as -5, which no option's name is.
    private func isNegativeNumber(_ word: String) -> Bool { word.hasPrefix("-") && Int64(word) != nil }

    private mutating func readArgument(_ word: String, into target: inout Target) throws(UsageError) {
        let arguments = parameters.filter { $0.label.kind == .argument }
        let isMore = argumentCount >= arguments.count
        guard let parameter = isMore ? arguments.last : arguments[argumentCount],
            !isMore || parameter.label.isRepeated
        else {
            throw error("\(title) does not accept the argument '\(word)'")
        }
        argumentCount += 1
        given.insert(parameter.label.name)
        try accept(word, for: parameter, into: &target)
    }

    private mutating func readOption(_ word: String, into target: inout Target) throws(UsageError) {
        let halves = word[...].halves(atFirst: "=")
        let (name, attached) = (String(halves.first), halves.second.map { String($0) })
        let options = parameters.filter { $0.label.kind != .argument }
        guard let parameter = options.first(where: { $0.label.name == name || $0.label.formerName == name }) else {
            let names = options.map(\.label.name) + ["--help"]
            throw error("\(title) has no option \(name)\(Suggestion.text(for: name, among: names))")
        }
        guard given.insert(parameter.label.name).inserted || parameter.label.isRepeated else {
            throw error("\(name) is given twice")
        }
        if parameter.label.kind == .flag {
            guard attached == nil else { throw error("\(name) does not accept a value") }
            try accept("", for: parameter, into: &target)
        } else if let attached {
            try accept(attached, for: parameter, into: &target)
        } else {
            try accept(nextValue(of: parameter.label), for: parameter, into: &target)
        }
    }

    private mutating func nextValue(of option: ParameterLabel) throws(UsageError) -> String {
        guard let next = unread.first, !next.hasPrefix("--") else {
            throw error("\(option.name) requires a value: \(option.spelling)")
        }
        unread.removeFirst()
        return next
    }

    private func accept(_ text: String, for parameter: Parameter<Target>, into target: inout Target) throws(UsageError)
    {
        guard !text.isEmpty || parameter.label.kind == .flag || parameter.label.mayBeEmpty else {
            throw error("\(parameter.label.name) must not be empty")
        }
        do {
            try parameter.accept(&target, text)
        } catch {
            throw self.error("\(parameter.label.name) \(error.predicate)")
        }
    }

    private func checkComplete() throws(UsageError) {
        let missing = parameters.map(\.label).filter { $0.isRequired && !given.contains($0.name) }
        guard missing.isEmpty else {
            throw error("\(title) requires \(missing.map(\.spelling).joined(separator: " and "))")
        }
    }

    private var title: String { path.joined(separator: " ") }

    private func error(_ message: String) -> UsageError { UsageError(message, path: path) }
}
