import Basics

/// The value of `grpc-timeout`: 1–8 digits and a unit.
///
/// Source: gRPC over HTTP/2, "Requests", rule Timeout.
public enum GRPCTimeout {
    /// Returns nanoseconds, at most `Int64.max`; `nil` if the value is malformed.
    public static func parse(_ value: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard value.count >= 2, value.count <= 9, let unit = value.last else { return nil }
        var amount: Int64 = 0
        for digit in value.dropLast() {
            guard digit.isASCIIDigit else { return nil }
            amount = amount * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        let scale: Int64
        switch unit {
        case UInt8(ascii: "n"): scale = 1
        case UInt8(ascii: "u"): scale = 1000
        case UInt8(ascii: "m"): scale = 1_000_000
        case UInt8(ascii: "S"): scale = 1_000_000_000
        case UInt8(ascii: "M"): scale = 60_000_000_000
        case UInt8(ascii: "H"): scale = 3_600_000_000_000
        default: return nil
        }
        let (nanoseconds, overflow) = amount.multipliedReportingOverflow(by: scale)
        return overflow ? .max : nanoseconds
    }

    /// Returns the value for a timeout, in the finest unit that 8 digits hold, rounded up.
    public static func format(nanoseconds: Int64) -> String {
        let units: [(scale: Int64, letter: String)] = [
            (1, "n"), (1000, "u"), (1_000_000, "m"), (1_000_000_000, "S"), (60_000_000_000, "M"),
        ]
        let amount = max(0, nanoseconds)
        for (scale, letter) in units {
            let rounded = amount / scale + (amount % scale == 0 ? 0 : 1)
            if rounded < 100_000_000 { return "\(rounded)\(letter)" }
        }
        return "\(min(99_999_999, amount / 3_600_000_000_000 + 1))H"
    }
}
