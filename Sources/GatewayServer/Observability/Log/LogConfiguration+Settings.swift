import Basics
package import Settings

extension LogConfiguration {
    /// Reads the section `log`.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("log")
        level = section.choice("level", default: level)
        format = section.choice("format", default: format)
        access = section.flag("access", default: access)
    }
}
