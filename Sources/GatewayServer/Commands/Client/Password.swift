import CommandLineInterface
import Crypto
import Glibc

/// Reads a password: never an argument, which every user of the machine could see.
enum Password {
    /// Returns the first line of standard input, or the password typed on the terminal.
    ///
    /// - Parameters:
    ///   - fromStandardInput: whether `--password-stdin` was given.
    ///   - isNew: whether it must be typed twice, because a typing error is not visible.
    static func read(fromStandardInput: Bool, prompt: String, isNew: Bool = false) throws(ClientFailure) -> Secret {
        if fromStandardInput {
            guard let line = readLine(), !line.isEmpty else {
                throw ClientFailure("standard input does not have a password", exitCode: .usage)
            }
            return Secret(line)
        }
        let terminal = try Terminal()
        let first = try terminal.readHidden(prompt)
        if isNew {
            guard try terminal.readHidden("Repeat the password: ").matches(first) else {
                throw ClientFailure("the two passwords differ")
            }
        }
        return first
    }
}

/// The controlling terminal of the process, independent of standard input.
final class Terminal {
    private let descriptor: Int32

    init() throws(ClientFailure) {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ClientFailure(
                "the command needs a terminal to ask for the password: use --password-stdin instead", exitCode: .usage)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Returns a line that is typed without echo. It reads byte by byte, so that Ctrl-C ends the command only after the terminal's
    /// mode is restored.
    func readHidden(_ prompt: String) throws(ClientFailure) -> Secret {
        var usual = termios()
        guard tcgetattr(descriptor, &usual) == 0 else { throw unusable() }
        var hidden = usual
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &hidden) == 0 else { throw unusable() }
        defer {
            tcsetattr(descriptor, TCSAFLUSH, &usual)
            show("\n")
        }
        show(prompt)
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            guard Glibc.read(descriptor, &byte, 1) == 1 else { throw ClientFailure("the terminal was closed") }
            switch byte {
            case 0x0A, 0x0D: return Secret(line)
            case 0x03, 0x04: throw ClientFailure("no password was given")
            case 0x08, 0x7F: Self.removeLastCharacter(&line)
            case 0x15: line.removeAll()
            default: line.append(byte)
            }
        }
    }

    /// Whether the user answers yes; anything else means no.
    func confirms(_ question: String) -> Bool {
        show("\(TextLayout.printable(question)) [y/N] ")
        var input: [UInt8] = []
        var byte: UInt8 = 0
        while Glibc.read(descriptor, &byte, 1) == 1, byte != 0x0A, input.count < 16 { input.append(byte) }
        return ["y", "yes"].contains(String(decoding: input, as: UTF8.self).lowercased())
    }

    /// Removes the last scalar of UTF-8: its continuation bytes, and the byte before them.
    private static func removeLastCharacter(_ line: inout [UInt8]) {
        while let last = line.popLast(), last & 0xC0 == 0x80 {}
    }

    func show(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    private func unusable() -> ClientFailure {
        ClientFailure("cannot turn off the terminal's echo: \(String(cString: strerror(errno)))")
    }
}
