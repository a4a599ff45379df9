import AppSupport
import Basics
import Crypto

/// The section of one app, read through the configuration's reader.
struct AppSection: AppSettings {
    private(set) var reader: ConfigurationReader
    let isOnLoopback: Bool
    let isEnabled: Bool
    /// The section, `apps.NAME`.
    private let place: String

    /// - Parameter isOnLoopback: whether the listener for apps exists and is reachable from this machine only.
    init(of name: String, in reader: ConfigurationReader, isOnLoopback: Bool) throws(ConfigurationError) {
        var reader = reader
        place = "apps.\(name)"
        try reader.open(place)
        isEnabled = try reader.flag("\(place).enabled", default: false)
        self.isOnLoopback = isOnLoopback
        self.reader = reader
    }

    mutating func flag(_ name: String, default standard: Bool) throws -> Bool {
        try reader.flag("\(place).\(name)", default: standard)
    }

    mutating func integer(
        _ name: String, default standard: Int64, in range: ClosedRange<Int64>, unit: String
    ) throws -> Int64 {
        try reader.integer("\(place).\(name)", default: standard, in: range, unit: unit)
    }

    mutating func text(_ name: String, default standard: String, unit: String, bounds: String) throws -> String {
        try reader.text("\(place).\(name)", default: standard, unit: unit, bounds: bounds)
    }

    mutating func seconds(
        _ name: String, default standard: Duration, in range: ClosedRange<Int64>
    ) throws -> Duration {
        try reader.duration("\(place).\(name)", default: standard, in: range)
    }

    mutating func secret(_ section: String, least: Int) throws -> Secret? {
        let inner = "\(place).\(section)"
        try reader.open(inner)
        let isGiven = reader.contains("\(inner).secret_file") || reader.contains("\(inner).secret_env")
        let file = try reader.text("\(inner).secret_file", default: "", unit: "path")
        let variable = try reader.text("\(inner).secret_env", default: "", unit: "variable")
        guard isGiven else { return nil }
        return try reader.secretSource(of: inner, file: file, variable: variable).secret(least: least)
    }

    func wrong(_ name: String, _ rule: String) -> any Error { reader.wrong("\(place).\(name)", rule) }
}
