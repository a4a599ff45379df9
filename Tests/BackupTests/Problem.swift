/// Returns the description of the error that `body` throws; empty = it throws none.
func problem(_ body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch {
        return "\(error)"
    }
}
