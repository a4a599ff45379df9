import CommandLineInterface
import Configuration

extension ConfigurationSetting: Resource {
    package static let columns = ["key", "source", "value"]

    package var fields: [ResourceField] {
        [.text("key", key), .text("value", value), .text("source", source.description)]
    }
}
