import Basics

/// The value of `Connect-Timeout-Ms`: at most 10 digits (Connect protocol, "Unary-Request", rule Timeout).
public enum ConnectTimeout {
    /// Returns nanoseconds; `nil` if the value is malformed.
    public static func parse(_ value: String) -> Int64? {
        guard (1...10).contains(value.utf8.count), value.utf8.allSatisfy({ $0.isASCIIDigit }) else {
            return nil
        }
        // Ten digits of milliseconds are below 2^63 nanoseconds.
        return Int64(value).map { $0 * 1_000_000 }
    }
}
