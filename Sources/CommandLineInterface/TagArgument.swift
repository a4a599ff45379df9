/// An argument `KEY=VALUE`; the value may contain further equals signs, and be empty.
package struct TagArgument: ArgumentValue, Hashable, Sendable {
    package let key: String
    package let value: String

    package init(argument: String) throws(ArgumentProblem) {
        guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else {
            throw ArgumentProblem("must be KEY=VALUE, not '\(argument)'")
        }
        key = String(argument[..<equals])
        value = String(argument[argument.index(after: equals)...])
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
