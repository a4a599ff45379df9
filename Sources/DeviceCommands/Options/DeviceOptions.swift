package import CommandLineInterface
import DeviceClient

/// The options that every command of a device has.
struct DeviceOptions: Sendable {
    /// The environment variable with the device's folder, if `--device-dir` is not given.
    static let variable = "DATA_GATEWAY_DEVICE_DIR"

    var folder: String?
    var json = false

    static func parameters(json: String) -> [Parameter<Self>] {
        [
            .option(
                "--device-dir", "DIR", \.folder,
                """
                The folder of the device's key and its unfinished uploads (default: $\(variable), else \
                ~/.config/data-gateway/device)
                """
            ),
            .flag("--json", \.json, json),
        ]
    }

    /// Returns the folder of the option or the variable, or by default `data-gateway/device` in `$XDG_CONFIG_HOME` or `~/.config`.
    func deviceFolder(_ environment: CommandEnvironment) throws(ClientFailure) -> DeviceFolder {
        if let folder = folder ?? environment[Self.variable] { return DeviceFolder(folder) }
        return DeviceFolder(try environment.configurationFolder("the device's key is", Self.variable) + "/device")
    }
}

extension CommandEnvironment {
    /// Returns `data-gateway` in `$XDG_CONFIG_HOME` or `~/.config`.
    ///
    /// - Parameters:
    ///   - content: the folder's content, for the message.
    ///   - variable: the variable that could define another folder, for the message.
    package func configurationFolder(_ content: String, _ variable: String) throws(ClientFailure) -> String {
        guard let folder = self["XDG_CONFIG_HOME"] ?? self["HOME"].map({ $0 + "/.config" }) else {
            throw ClientFailure("set HOME or \(variable): one of them defines where \(content) kept")
        }
        return folder + "/data-gateway"
    }
}
