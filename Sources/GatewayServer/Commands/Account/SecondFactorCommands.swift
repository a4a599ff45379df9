import Basics
import CommandLineInterface
import Crypto
import JSON
import Proto

/// `data-gateway account second-factor enable`
struct SecondFactorEnable: ClientCommand {
    static let name = "enable"
    static let summary = "Protect your user with the codes of an authenticator app"
    static let discussion = [
        """
        Asks for your password, shows a QR code for the app on the terminal, and asks for the first code that the app shows. \
        Then prints ten recovery codes, each for one sign-in without the app: keep them where you keep passwords.
        """,
        """
        With --password-stdin, the first line of standard input is the password, the secret is printed to standard error, and \
        the second line is the code.
        """,
    ]
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [
            .flag(
                "--password-stdin", \.passwordFromStandardInput,
                "Read the password and the code from the first lines of standard input")
        ] + connectionParameters
    }

    var passwordFromStandardInput = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let client = AccountServiceClient(gateway)
        let password = try Password.read(fromStandardInput: passwordFromStandardInput, prompt: "Your password: ")
        let app = try await client.enrollSecondFactor(EnrollSecondFactorRequest(password: password.exposedText))
        let code: Secret
        if passwordFromStandardInput {
            gateway.report("secret: \(app.secret)")
            code = try Password.read(fromStandardInput: true, prompt: "")
        } else {
            let terminal = try Terminal()
            terminal.show(
                "\(try QRCode(app.otpauthURI).terminalText)\nScan the code with your app, or type the secret \(app.secret)\n"
            )
            code = try terminal.readHidden("The code that the app shows: ")
        }
        let reply = try await client.confirmSecondFactor(ConfirmSecondFactorRequest(code: code.exposedText))
        return Reply(recoveryCodes: reply.recoveryCodes, "The second factor is on.")
    }
}

extension Reply {
    /// The output with recovery codes, which the gateway shows once.
    init(recoveryCodes codes: [String], _ sentence: String) {
        let lines = [sentence, "Recovery codes, each for one sign-in without the app:"] + codes
        self.init(
            json: .object([.init(name: "recovery_codes", value: .array(codes.map { .string($0) }))]),
            text: lines.joined(separator: "\n"))
    }
}

/// `data-gateway account second-factor disable`
struct SecondFactorDisable: ClientCommand {
    static let name = "disable"
    static let summary = "Turn your second factor off"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [.argument("CODE", \.code, "The code that the app shows, or a recovery code")] + connectionParameters
    }

    var code = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await AccountServiceClient(gateway).removeSecondFactor(RemoveSecondFactorRequest(code: code))
        return Reply(json: .object([]), text: "the second factor is off")
    }
}

/// `data-gateway account second-factor recovery-codes`
struct SecondFactorRecovery: ClientCommand {
    static let name = "recovery-codes"
    static let summary = "Replace your recovery codes, and show the new ones once"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [.argument("CODE", \.code, "The code that the app shows, or a recovery code")] + connectionParameters
    }

    var code = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AccountServiceClient(gateway).replaceRecoveryCodes(
            ReplaceRecoveryCodesRequest(code: code))
        return Reply(recoveryCodes: reply.recoveryCodes, "The earlier recovery codes are no longer valid.")
    }
}
