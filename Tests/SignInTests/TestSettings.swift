import AppSupport
import FoundationEssentials
import Settings
import TestSupport

/// The app's section of a configuration, without a file.
struct TestSettings {
    private let folder: TestFolder
    private var variables: [String: String] = [:]

    /// - Parameters:
    ///   - values: the keys.
    ///   - secret: the secret of developers; `nil` = none.
    init(_ values: [String: String] = [:], secret: String? = nil) throws {
        folder = try TestFolder()
        for (name, value) in values { variables["DATA_GATEWAY_APPS__SIGN_IN__\(name.uppercased())"] = value }
        guard let secret else { return }
        let path = folder.path + "/secret"
        try secret.write(toFile: path, atomically: true, encoding: .utf8)
        variables["DATA_GATEWAY_APPS__SIGN_IN__DEV_LOGIN__SECRET_FILE"] = path
    }

    func section(isOnLoopback: Bool = true) throws -> AppSettings {
        AppSettings(try SettingsReader(variables: variables).section("apps.sign_in"), isOnLoopback: isOnLoopback)
    }
}
