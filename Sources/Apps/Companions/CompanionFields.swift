import AppProto
import Basics
import GatewayAPI

/// The rules for what members write. Names of fields are those of the published app; an empty text is always valid, except for the
/// name.
enum CompanionFields {
    /// The largest number of entries of each list in a posted document.
    static let longestList = 200
    /// The largest number of messages, since the app adds some of its own.
    static let mostMessages = 400
    static let longestFeedback = 4000
    static let longestTaskText = 1000

    static func username(_ text: String) throws(CompanionResult) {
        guard text.utf8.count <= 256, (5...64).contains(text.count), !text.hasControlCharacter() else {
            throw invalid("username", "must be 5 to 64 characters, without control characters")
        }
    }

    static func password(_ text: String, least: Int) throws(CompanionResult) {
        guard (least...1024).contains(text.utf8.count) else { throw invalid("pass", "must be \(least) to 1024 bytes") }
    }

    static func mobile(_ text: String) throws(CompanionResult) {
        let bytes = Array(text.utf8)
        guard bytes.isEmpty || bytes.count == 11 && bytes[0] == UInt8(ascii: "1") && bytes.allSatisfy(\.isASCIIDigit)
        else { throw invalid("mobile", "must be 11 digits that begin with 1") }
    }

    static func age(_ text: String) throws(CompanionResult) {
        let bytes = Array(text.utf8)
        let isValid = (1...2).contains(bytes.count) && bytes.allSatisfy(\.isASCIIDigit)
        guard bytes.isEmpty || isValid && (bytes.count == 1 || bytes[0] != UInt8(ascii: "0")) else {
            throw invalid("age", "must be a number from 0 to 99")
        }
    }

    static func sex(_ text: String) throws(CompanionResult) {
        guard ["", "male", "female"].contains(text) else { throw invalid("sex", "must be male or female") }
    }

    static func blood(_ text: String) throws(CompanionResult) {
        guard ["", "A", "B", "AB", "O"].contains(text) else { throw invalid("blood", "must be A, B, AB or O") }
    }

    /// Checks a date such as 2000-01-31 or 2000-01-1, which must be in the past.
    static func birthday(_ text: String, at now: UnixTime) throws(CompanionResult) {
        if text.isEmpty { return }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isShaped = parts.map(\.count) == [4, 2, 2] || parts.map(\.count) == [4, 2, 1]
        let numbers = parts.compactMap { $0.allSatisfy(\.isASCIIDigit) ? Int(String(Substring($0))) : nil }
        guard isShaped, numbers.count == 3, (1000...2999).contains(numbers[0]),
            let date = CivilTime(year: numbers[0], month: numbers[1], day: numbers[2], hour: 0, minute: 0, second: 0),
            date.unix < now
        else { throw invalid("birthday", "must be a date in the past such as 2000-01-31") }
    }

    /// Checks a text without control characters except line ends and tabs.
    static func text(_ text: String, _ field: String, atMost limit: Int) throws(CompanionResult) {
        guard text.utf8.count <= 4 * limit, text.count <= limit,
            !text.hasControlCharacter(permitsLines: true)
        else {
            throw invalid(field, "must be at most \(limit) characters, without control characters")
        }
    }

    static func list(_ count: Int, _ field: String, atMost limit: Int = longestList) throws(CompanionResult) {
        guard count <= limit else { throw invalid(field, "must have at most \(limit) entries") }
    }

    /// - Parameter rule: continues a sentence that begins with the field.
    static func invalid(_ field: String, _ rule: String) -> CompanionResult { CompanionResult(-1, "\(field) \(rule)") }
}

/// The result of a call that did not do what was asked, in the call's own codes. The text is for the person.
struct CompanionResult: Error, Sendable, Hashable {
    let code: Int32
    let message: String

    init(_ code: Int32, _ message: String) {
        self.code = code
        self.message = message
    }

    static let unknownAddress = CompanionResult(-1, "Email does not exist")
    static let wrongPassword = CompanionResult(0, "Wrong Password")

    var outcome: CompanionOutcome { CompanionOutcome(code: code, msg: message) }
}

extension CompanionOutcome {
    /// Runs a call whose refusals are responses.
    static func of(_ body: () async throws -> CompanionOutcome) async throws -> CompanionOutcome {
        do {
            return try await body()
        } catch let refusal as CompanionResult {
            return refusal.outcome
        }
    }
}
