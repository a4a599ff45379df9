import Foundation

/// Runs one call of the app against a server: `share-codes-client URL test | check CODE | request ID FROM TO MESSAGE`.
///
/// Prints the result, or the error with exit code 1.
@main enum ShareCodesClient {
    @MainActor static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { exit(2) }
        AppStorage.values["serverURL"] = arguments[0]
        do {
            switch (arguments[1], arguments.count) {
            case ("test", 2):
                print(await SettingsView().test())
            case ("check", 3):
                print(try await ServerService().checkShareCodeUniqueness(arguments[2]))
            case ("request", 6):
                try await ServerService().sendStatusRequest(
                    StatusRequest(
                        requestId: arguments[2], fromUserId: arguments[3], toUserId: arguments[4],
                        message: arguments[5]))
                print("sent")
            default: exit(2)
            }
        } catch {
            print(error is ServerError ? "\(error)" : "no connection")
            exit(1)
        }
    }
}
