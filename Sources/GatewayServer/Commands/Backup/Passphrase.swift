import Basics
import CommandLineInterface
import Crypto
import Foundation

/// Reads the passphrase of an archive: never an argument, which every user of the machine could see.
enum Passphrase {
    /// Returns the first line of a file; `nil` without a path.
    static func read(_ path: String?) throws(ClientFailure) -> Secret? {
        guard let path else { return nil }
        guard let bytes = try? PrivateFile.read(path) else {
            throw ClientFailure("cannot read the passphrase file \(path)", exitCode: .usage)
        }
        let line = Array(bytes.prefix { $0 != 0x0A && $0 != 0x0D })
        guard line.count >= 8 else {
            throw ClientFailure("the first line of \(path) must be a passphrase of at least 8 bytes", exitCode: .usage)
        }
        return Secret(line)
    }
}

extension Parameter {
    static func passphrase(_ property: WritableKeyPath<Target, String?>) -> Parameter {
        .option(
            "--passphrase-file", "FILE", property,
            "The file whose first line is the archive's passphrase (at least 8 bytes)")
    }
}
