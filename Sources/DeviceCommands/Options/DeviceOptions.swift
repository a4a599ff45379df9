import CommandLineInterface
import DeviceClient

/// What every command of a device says.
struct DeviceOptions: Sendable {
    /// Names the device's folder, where `--device-dir` does not.
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

    /// The option, the variable, else `data-gateway/device` in `$XDG_CONFIG_HOME` or `~/.config`.
    func deviceFolder(_ environment: CommandEnvironment) throws(ClientFailure) -> DeviceFolder {
        if let folder = folder ?? environment[Self.variable] { return DeviceFolder(folder) }
        return DeviceFolder(try environment.configurationFolder("the device's key is", Self.variable) + "/device")
    }
}

extension CommandEnvironment {
    /// `data-gateway` in `$XDG_CONFIG_HOME` or `~/.config`.
    ///
    /// - Parameters:
    ///   - content: what is kept there, for the message.
    ///   - variable: what would have named another place.
    package func configurationFolder(_ content: String, _ variable: String) throws(ClientFailure) -> String {
        guard let folder = self["XDG_CONFIG_HOME"] ?? self["HOME"].map({ $0 + "/.config" }) else {
            throw ClientFailure("set HOME or \(variable): one of them defines where \(content) kept")
        }
        return folder + "/data-gateway"
    }
}
