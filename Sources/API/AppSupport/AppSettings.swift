import Basics
import Crypto

/// The section of an app in the configuration. Names are relative to it: `organization` is `apps.NAME.organization`.
///
/// Every name has to be read, also if the app is disabled, since names that were not read are refused as misspelled. Each must
/// have a row in docs/configuration.md.
package protocol AppSettings {
    /// Whether the app is enabled.
    var isEnabled: Bool { get }

    /// Whether the listener `apps` accepts connections from this machine only.
    var isOnLoopback: Bool { get }

    mutating func flag(_ name: String, default standard: Bool) throws -> Bool

    /// - Parameter unit: the unit of the number, for messages and the documentation.
    mutating func integer(
        _ name: String, default standard: Int64, in range: ClosedRange<Int64>, unit: String
    ) throws -> Int64

    /// - Parameters:
    ///   - unit: the kind of text, and `bounds`: the valid values, both for the documentation.
    mutating func text(_ name: String, default standard: String, unit: String, bounds: String) throws -> String

    /// Reads a number of whole seconds; the name ends with `_seconds`.
    mutating func seconds(_ name: String, default standard: Duration, in range: ClosedRange<Int64>) throws -> Duration

    /// Reads the secret in the file or environment variable that `SECTION.secret_file` or `SECTION.secret_env` names; `nil` if neither
    /// is set.
    ///
    /// - Parameters:
    ///   - section: a section inside the app's.
    ///   - least: the smallest accepted number of bytes.
    mutating func secret(_ section: String, least: Int) throws -> Secret?

    /// Makes the error that the value of `name` violates a rule.
    func wrong(_ name: String, _ rule: String) -> any Error
}
