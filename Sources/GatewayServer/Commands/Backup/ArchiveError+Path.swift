import Backup
import CommandLineInterface

extension ArchiveError {
    /// Runs `body`, and names the archive at `path` in its errors.
    static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ArchiveError {
            throw ClientFailure("\(path): \(error)")
        }
    }
}
