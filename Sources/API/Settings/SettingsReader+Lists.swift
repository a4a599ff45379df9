import Basics
package import HTTPTypes

extension SettingsReader {
    /// Reads a list; `nil` if it is not set.
    ///
    /// - Parameters:
    ///   - standard: the default, and `bounds`: the valid elements, both for the documentation.
    package func list(_ name: String, standard: String = "none", bounds: String = "") -> [String]? {
        let kind = source.isMember(place) ? "strings" : "texts"
        return list(name, ConfigurationSetting.Rule(unit: "list", standard: standard, bounds: bounds), of: kind)
    }

    /// Reads a list of address blocks; empty if it is not set.
    package func addressRanges(_ name: String, standard: String = "none") -> [AddressRange] {
        let rule = ConfigurationSetting.Rule(
            unit: "list", standard: standard, bounds: "addresses, `192.0.2.0/24`, `2001:db8::/32`")
        var ranges: [AddressRange] = []
        for text in list(name, rule, of: "addresses and blocks like 192.0.2.0/24") ?? [] {
            guard let range = AddressRange(text) else {
                reject(name, "must hold addresses and blocks like 192.0.2.0/24, without bits set after the prefix")
                return []
            }
            ranges.append(range)
        }
        return ranges
    }

    /// - Parameter elements: the kind of elements.
    private func list(_ name: String, _ rule: ConfigurationSetting.Rule, of elements: String) -> [String]? {
        let value = source.take(key(name), rule, readingText: ConfigurationValue.init(separatedByCommas:))
        guard let value else { return nil }
        guard case .list(let items) = value else {
            reject(name, "must be a list of \(elements)")
            return nil
        }
        var texts: [String] = []
        for item in items {
            guard case .text(let text) = item, !(source.isMember(place) && text.isEmpty) else {
                reject(name, "must \(source.isMember(place) ? "be a list of" : "hold") \(elements)")
                return nil
            }
            texts.append(text)
        }
        return texts
    }

    /// Reads an object whose members are texts; `nil` if it is not set.
    package func map(_ name: String, bounds: String = "") -> [String: String]? {
        let rule = ConfigurationSetting.Rule(unit: "object of texts", standard: "none", bounds: bounds)
        let value = source.take(key(name), rule, readingText: ConfigurationValue.init(json5:))
        guard let value else { return nil }
        guard case .object(let members) = value else {
            reject(name, "must be an object of strings: { … }")
            return nil
        }
        var texts: [String: String] = [:]
        for (member, value) in members.sorted(by: { $0.key < $1.key }) {
            guard case .text(let text) = value, !text.isEmpty else {
                reject("\(name).\(member)", "must be a string that is not empty")
                continue
            }
            texts[member] = text
        }
        return texts
    }
}

extension SettingsReader {
    /// The unit of a duration.
    package enum TimeUnit: String {
        case seconds
        case minutes
        case hours
        case days

        fileprivate var duration: Duration {
            switch self {
            case .seconds: .seconds(1)
            case .minutes: .minutes(1)
            case .hours: .hours(1)
            case .days: .days(1)
            }
        }
    }

    /// Reads a duration.
    ///
    /// - Parameters:
    ///   - name: ends with the unit.
    ///   - range: the valid numbers of the unit.
    package func duration(
        _ name: String, default standard: Duration, in range: ClosedRange<Int64>, unit: TimeUnit = .seconds
    ) -> Duration {
        let scale = unit.duration.wholeSeconds
        return .seconds(
            integer(name, default: standard.wholeSeconds / scale, in: range, unit: unit.rawValue) * scale)
    }
}
