import AppSupport
import Basics
import Crypto

/// The app's section of a configuration, without a file.
struct TestSettings: AppSettings {
    var isEnabled = true
    var isOnLoopback = true
    var values: [String: String] = [:]
    var secret: Secret?

    mutating func flag(_ name: String, default standard: Bool) -> Bool { values[name].map { $0 == "true" } ?? standard }

    mutating func integer(
        _ name: String, default standard: Int64, in range: ClosedRange<Int64>, unit: String
    ) -> Int64 { values[name].flatMap(Int64.init) ?? standard }

    mutating func text(_ name: String, default standard: String, unit: String, bounds: String) -> String {
        values[name] ?? standard
    }

    mutating func seconds(_ name: String, default standard: Duration, in range: ClosedRange<Int64>) -> Duration {
        values[name].flatMap(Int64.init).map(Duration.seconds) ?? standard
    }

    mutating func secret(_ section: String, least: Int) -> Secret? { secret }

    func wrong(_ name: String, _ rule: String) -> any Error { Wrong(name: name, rule: rule) }

    struct Wrong: Error {
        let name: String
        let rule: String
    }
}
