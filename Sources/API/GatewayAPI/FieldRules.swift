import Basics
package import RPC
package import TimeZones

/// The rules for fields of requests. Each message names the field and the rule.
package enum FieldRules {
    /// Checks the name of an organization or a user: 1 to 64 of `a-z A-Z 0-9 . _ @ + -`, beginning with a letter or digit.
    package static func accountName(_ text: String, field: String) throws(RPCError) {
        guard isAccountName(text) else {
            throw .invalidArgument(
                "\(field) must be 1 to 64 letters, digits or . _ @ + - and begin with a letter or digit")
        }
    }

    package static func isAccountName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._@+-".utf8.contains($0) }
            && text.utf8.first?.isASCIIAlphanumeric == true
    }

    /// Checks a name for people: 1 to 128 bytes of UTF-8 without control characters, and not only spaces.
    package static func title(_ text: String, field: String) throws(RPCError) {
        guard !text.isEmpty else { throw .invalidArgument("\(field) must not be empty") }
        try note(text, field: field, limit: 128)
        guard !text.allSatisfy(\.isWhitespace) else {
            throw .invalidArgument("\(field) must have a character other than spaces")
        }
    }

    /// Checks a name for people that may be missing, which is an empty text.
    package static func optionalTitle(_ text: String, field: String) throws(RPCError) {
        if !text.isEmpty { try title(text, field: field) }
    }

    /// Checks a text for people, which may be empty.
    ///
    /// - Parameter limit: the largest length in bytes of UTF-8.
    package static func note(_ text: String, field: String, limit: Int) throws(RPCError) {
        guard text.utf8.count <= limit else { throw .invalidArgument("\(field) must be at most \(limit) bytes") }
        guard !text.hasControlCharacter() else {
            throw .invalidArgument("\(field) must not contain control characters")
        }
    }

    /// Returns the time zone of a request.
    ///
    /// - Parameter name: empty = UTC.
    /// - Throws: FAILED_PRECONDITION if the machine has no time zones.
    package static func timeZone(
        _ name: String, field: String = "time_zone", in zones: TimeZoneFolder
    ) throws(RPCError) -> TimeZoneRules {
        guard !name.isEmpty else { return .utc }
        do {
            return try zones.zone(name)
        } catch {
            switch error {
            case .unknown:
                throw .invalidArgument(
                    "\(field) must be empty or a name of the time zone database, such as UTC or Europe/Berlin")
            case .noZones(let folder):
                throw .failedPrecondition(
                    "\(field) can only be UTC, because the gateway's machine has no \(folder): install the package tzdata"
                )
            }
        }
    }

    package static func password(_ text: String, field: String) throws(RPCError) {
        guard isPassword(text) else { throw .invalidArgument("\(field) must be 8 to 1024 bytes") }
    }

    package static func isPassword(_ text: String) -> Bool {
        (8...1024).contains(text.utf8.count)
    }
}
