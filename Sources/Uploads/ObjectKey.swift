import Platform

/// The names of objects in the store.
enum ObjectKey {
    /// `uploads/<yyyy>/<mm>/<dd>/<upload id>`, the day in UTC.
    static func of(uploadID: String, at time: UnixTime) -> String {
        let day = CivilTime(time)
        return "uploads/\(padded(day.year, to: 4))/\(padded(day.month, to: 2))/\(padded(day.day, to: 2))/\(uploadID)"
    }

    private static func padded(_ number: Int, to digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
