package import RPC

/// The time without a call after which a device is reported as silent, as an operator sets it for a site, a suite or a device.
package struct SilenceLimit: Sendable, Hashable {
    /// The longest time in hours: ten years.
    package static let longest: Int64 = 3650 * 24

    /// The time in hours, 0 = never; `nil` = that of what contains it: the suite, the site or the configuration.
    package let hours: Int64?

    /// - Parameter hours: 0 = never, -1 = that of what contains it.
    /// - Throws: INVALID_ARGUMENT with the field and the rule.
    package init(hours: Int32) throws(RPCError) {
        guard (-1...Self.longest).contains(Int64(hours)) else {
            throw .invalidArgument("silent_after_hours must be -1 to \(Self.longest)")
        }
        self.hours = hours < 0 ? nil : Int64(hours)
    }
}
