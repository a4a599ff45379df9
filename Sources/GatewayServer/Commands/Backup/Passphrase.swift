import Backup
import Basics
import CommandLineInterface
import Crypto

/// Reads the passphrase of an archive: never an argument, which every user of the machine could see.
enum Passphrase {
    /// Returns the first line of a file; `nil` without a path.
    static func read(_ path: String?) throws(ClientFailure) -> Secret? {
        guard let path else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.contents(of: path)
        } catch {
            throw ClientFailure("cannot read the passphrase file \(error)", exitCode: .usage)
        }
        guard let passphrase = Secret(firstLineOf: bytes, least: 8) else {
            throw ClientFailure("the first line of \(path) must be a passphrase of at least 8 bytes", exitCode: .usage)
        }
        return passphrase
    }
}

extension Parameter {
    static func passphrase(_ property: WritableKeyPath<Target, String?>) -> Parameter {
        .option(
            "--passphrase-file", "FILE", property,
            "The file whose first line is the archive's passphrase (at least 8 bytes)")
    }
}

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
