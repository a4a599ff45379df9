package import Settings

/// The section of an app in the configuration, and what it depends on.
///
/// Every key has to be read, also if the app is disabled, since keys that were not read are refused as misspelled. Each must have
/// a row in the app's page.
package struct AppSettings {
    /// The section `apps.NAME`; its key `enabled` was read.
    package let section: SettingsReader
    package let isEnabled: Bool
    /// Whether the listener `apps` accepts connections from this machine only.
    package let isOnLoopback: Bool

    package init(_ section: SettingsReader, isEnabled: Bool = true, isOnLoopback: Bool = true) {
        self.section = section
        self.isEnabled = isEnabled
        self.isOnLoopback = isOnLoopback
    }
}
